from recsys_ndcg.split_checks.split_report import SplitReport as SplitReport
from recsys_ndcg.split_checks.split_report import check_parts as check_parts
