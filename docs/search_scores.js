// Titles of pages come first, then attributes of that name, then other words.
var Scorer = {
  objNameMatch: 8,
  objPartialMatch: 1,
  objPrio: { 0: 0, 1: 0, 2: 0 },
  objPrioDefault: 0,
  title: 30,
  partialTitle: 20,
  term: 5,
  partialTerm: 2,
};
