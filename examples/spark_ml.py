"""
Training and shifting with Spark
================================

A logistic regression of Spark ML, its boundary found on rows that it has not seen, and the new
decision as a column and as SQL.

Run with ``python examples/spark_ml.py``; needs the extra ``spark`` and Java.
"""

import os
import sys

from boundshift import streaming

ROWS = 200_000


def main(rows: int = ROWS) -> None:
    """Train, shift, compare."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    frame = spark.range(rows).select(
        (F.rand(seed=0) < 0.02).cast("int").alias("label"),
        *[F.randn(seed=i + 1).alias(f"x{i}") for i in range(4)],
    )
    shifted_columns = [(F.col(f"x{i}") + F.col("label")).alias(f"x{i}") for i in range(4)]
    frame = frame.select("label", *shifted_columns)
    features = VectorAssembler(inputCols=[f"x{i}" for i in range(4)], outputCol="features")
    train, validate, test = features.transform(frame).randomSplit([0.4, 0.3, 0.3], seed=0)

    model = LogisticRegression().fit(train)
    boundary = streaming.scan_boundary(
        model.transform(validate), label="label", score="rawPrediction", curve="smoothed"
    )
    print(boundary.summary())

    scored = model.transform(test).withColumn(
        "score", F.element_at(vector_to_array("rawPrediction"), -1)
    )
    decided = boundary.to_sql("score", dialect="spark")
    scored = scored.withColumn("shifted", F.expr(decided))
    for name in ("prediction", "shifted"):
        recalls = scored.groupBy("label").agg(F.mean((F.col(name) == F.col("label")).cast("int")))
        found = sorted((row[0], row[1]) for row in recalls.collect())
        print(f"recall by class, {name}: " + ", ".join(f"{recall:.3f}" for _, recall in found))
    print("as SQL:", decided)


if __name__ == "__main__":
    main()
