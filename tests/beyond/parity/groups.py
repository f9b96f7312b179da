"""Parity of item groups, gaps of user groups, and who is served."""

from tests.beyond.parity import Ask

_ELLIOT = {
    f"BiasDisparity{which}[users:u-{user}_items:i-{item}]": Ask(
        f"bias_disparity(group,user_group=u{user},item_group=g{item},which={which})"
    )
    for which in ("BD", "BR", "BS")
    for user in (0, 1)
    for item in (0, 1)
} | {
    f"{name.upper()}-ProbToBeRanked_items:g-{item}": Ask(f"{name}(group,group=g{item})")
    for name in ("reo", "rsp")
    for item in (0, 1)
}
ASKS = {
    **{("elliot", name): ask for name, ask in _ELLIOT.items()},
    ("elliot", "ItemMADranking"): Ask("item_gap(group)"),
    ("elliot", "ItemMADrating"): Ask("item_gap(group,of=score)"),
    ("elliot", "NumRetrieved"): Ask("n_retrieved"),
    ("elliot", "PopREO"): Ask("popreo"),
    ("elliot", "PopRSP"): Ask("poprsp"),
    ("elliot", "REO_items:g"): Ask("reo(group)"),
    ("elliot", "RSP_items:g"): Ask("rsp(group)"),
    ("elliot", "UserCoverage"): Ask("user_coverage", read="sum", k=0),
    ("elliot", "UserMADranking"): Ask("ndcg", read="gap"),
    ("elliot", "UserMADrating"): Ask("score", read="gap"),
    ("recpack", "IPSHitRateK(fit on counts)"): Ask("ips_hit", {"popularity_of": "rows"}),
    ("recpack", "IPSHitRateK(fit on test)"): Ask("ips_hit", train="test"),
    ("recpack", "IPSHitRateK(fit on train)"): Ask("ips_hit"),
    ("rectools", "CoveredUsers"): Ask("user_coverage", k=0),
    ("rectools", "SufficientReco"): Ask("user_coverage"),
    ("warprec", "PopREO"): Ask("popreo"),
    ("warprec", "PopRSP"): Ask("poprsp"),
}
