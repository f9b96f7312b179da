from recsys_ndcg.errors.checks import as_float as as_float  # unlisted
from recsys_ndcg.errors.checks import check_choice as check_choice  # unlisted
from recsys_ndcg.errors.checks import check_flag as check_flag  # unlisted
from recsys_ndcg.errors.checks import check_integer as check_integer  # unlisted
from recsys_ndcg.errors.checks import check_level as check_level  # unlisted
from recsys_ndcg.errors.checks import is_caused_by_interrupt as is_caused_by_interrupt  # unlisted
from recsys_ndcg.errors.checks import is_number as is_number  # unlisted
from recsys_ndcg.errors.checks import require_libraries as require_libraries  # unlisted
from recsys_ndcg.errors.classes import DataWarning as DataWarning
from recsys_ndcg.errors.classes import DivergedModelError as DivergedModelError
from recsys_ndcg.errors.classes import InvalidInputError as InvalidInputError
from recsys_ndcg.errors.classes import RecsysNdcgError as RecsysNdcgError
from recsys_ndcg.errors.classes import UnknownMetricError as UnknownMetricError
from recsys_ndcg.errors.classes import emit_labelled_warnings as emit_labelled_warnings  # unlisted
from recsys_ndcg.errors.classes import label_messages as label_messages  # unlisted
from recsys_ndcg.errors.classes import replace_code as replace_code  # unlisted
from recsys_ndcg.errors.classes import warn as warn  # unlisted
from recsys_ndcg.errors.wording import escape_for_stdout as escape_for_stdout  # unlisted
from recsys_ndcg.errors.wording import escape_invisible as escape_invisible  # unlisted
from recsys_ndcg.errors.wording import format_count as format_count  # unlisted
from recsys_ndcg.errors.wording import is_encodable as is_encodable  # unlisted
from recsys_ndcg.errors.wording import quote as quote  # unlisted
from recsys_ndcg.errors.wording import suggest as suggest  # unlisted
