"""Tests of `recsys_ndcg.rendering`."""
