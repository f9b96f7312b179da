from recsys_ndcg.findings.finding import SEVERITIES as SEVERITIES
from recsys_ndcg.findings.finding import Finding as Finding
from recsys_ndcg.findings.finding import tabulate_findings as tabulate_findings
from recsys_ndcg.findings.finding import write_sentences as write_sentences
from recsys_ndcg.findings.finding import write_verdict as write_verdict
from recsys_ndcg.findings.gates import Gate as Gate
from recsys_ndcg.findings.gates import check_findings as check_findings
from recsys_ndcg.findings.templates import read_templates as read_templates
