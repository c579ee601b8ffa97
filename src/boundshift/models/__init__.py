"""Models: their scores, training, decision, files and ONNX."""
