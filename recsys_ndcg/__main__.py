"""``python -m recsys_ndcg`` is ``recsys-ndcg``."""

from __future__ import annotations

from recsys_ndcg.cli import main

if __name__ == "__main__":
    main()
