"""A driver whose workers do not see this package, unless it is sent to them.

python hidden_checkout.py CHECKOUT [ZIP]: prints the mean, or what is said of the workers.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])  # of this process alone: workers have what PYTHONPATH says

from recsys_ndcg.scale import spark
from recsys_ndcg.scale.spark import WorkerError
from tests.scale import sessions

if __name__ == "__main__":
    session = sessions.session(Path.cwd())
    for sent in sys.argv[2:]:
        if session.version.startswith("3."):  # has it in Connect alone
            session.sparkContext.addPyFile(sent)
        else:
            session.addArtifact(sent, pyfile=True)
    rows = [("ann", "a", 4.5, 5.0), ("ann", "b", 3.0, 2.0), ("bob", "a", 2.0, 4.0)]
    frame = session.createDataFrame(rows, "user string, item string, estimated double, true double")
    try:
        sys.stdout.write(f"{spark.evaluate(frame).mean.to_dict()}\n")
    except WorkerError as error:
        sys.stdout.write(f"{error}\n")
    session.stop()
