from recsys_ndcg.catalogue.candidates import Candidates as Candidates
from recsys_ndcg.catalogue.candidates import check_cutoff as check_cutoff
from recsys_ndcg.catalogue.candidates import warn_of_leak as warn_of_leak
from recsys_ndcg.catalogue.candidates import warn_outside_scale as warn_outside_scale
from recsys_ndcg.catalogue.placement import Placement as Placement
from recsys_ndcg.catalogue.placement import build_chosen_lists as build_chosen_lists
from recsys_ndcg.catalogue.placement import choose_convention as choose_convention
from recsys_ndcg.catalogue.placement import read_testset as read_testset
