from recsys_ndcg.rendering.document import Code as Code
from recsys_ndcg.rendering.document import Details as Details
from recsys_ndcg.rendering.document import Document as Document
from recsys_ndcg.rendering.document import Part as Part
from recsys_ndcg.rendering.document import Section as Section
from recsys_ndcg.rendering.document import Sentences as Sentences
from recsys_ndcg.rendering.document import ShownTable as ShownTable
from recsys_ndcg.rendering.document import Signatures as Signatures
from recsys_ndcg.rendering.document import UserLists as UserLists
from recsys_ndcg.rendering.document import UserTable as UserTable
from recsys_ndcg.rendering.exports import data_as as data_as
from recsys_ndcg.rendering.exports import form_of as form_of
from recsys_ndcg.rendering.exports import per_user_file as per_user_file
from recsys_ndcg.rendering.forms import render as render
from recsys_ndcg.rendering.page.charts import for_a_page as for_a_page
from recsys_ndcg.rendering.plots.a_against_b import plot_a_against_b as plot_a_against_b
from recsys_ndcg.rendering.plots.difference_per_user import (
    plot_difference_per_user as plot_difference_per_user,
)
from recsys_ndcg.rendering.plots.intervals_by_tier import (
    plot_intervals_by_tier as plot_intervals_by_tier,
)
from recsys_ndcg.rendering.plots.score_by_activity import (
    plot_score_by_activity as plot_score_by_activity,
)
from recsys_ndcg.rendering.plots.score_by_cutoff import plot_score_by_cutoff as plot_score_by_cutoff
from recsys_ndcg.rendering.plots.trade_off import plot_trade_off as plot_trade_off
from recsys_ndcg.rendering.plots.users_against_chance import (
    plot_users_against_chance as plot_users_against_chance,
)
from recsys_ndcg.rendering.terminal import Grid as Grid
from recsys_ndcg.rendering.terminal import print_document as print_document
from recsys_ndcg.rendering.wording import count as count
from recsys_ndcg.rendering.wording import cut as cut
from recsys_ndcg.rendering.wording import first_few as first_few
from recsys_ndcg.rendering.wording import interval as interval
from recsys_ndcg.rendering.wording import number as number
from recsys_ndcg.rendering.wording import p_value as p_value
from recsys_ndcg.rendering.wording import probability as probability
from recsys_ndcg.rendering.wording import signed as signed
from recsys_ndcg.rendering.wording import size as size
