"""Shifted models as ONNX graphs."""
