"""Random problems for oracle_test.py, each with its oracle.

A problem is the text of a program that makes ``know``, so that a failure can be pasted. The oracle comes from the
function that the text defines, or is written down here beside the text; never from anesi.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from dataclasses import dataclass, field

import numpy as np
import torch
from oracle import Oracle

import anesi

if importlib.util.find_spec("problog"):
    import anesi.problog
if importlib.util.find_spec("clingo"):
    import anesi.asp

PLACE = """
def place(worlds, sizes):  # of each world, in the order of itertools.product
    index = torch.zeros(len(worlds), dtype=torch.int64)
    for variable, size in enumerate(sizes):
        index = index * size + worlds[:, variable]
    return index
"""
MACHINE = """
def machine(worlds, outputs):  # steps: (reads, emits, kind); tables of each kind: (value emitted, next state)
    state, result = torch.zeros(len(worlds), dtype=torch.int64), torch.zeros(len(worlds), outputs, dtype=torch.int64)
    for reads, emits, kind in steps:
        index = state
        for variable in reads:
            index = index * sizes[variable] + worlds[:, variable]
        value, state = torch.tensor(tables[kind])[index].unbind(1)
        if emits is not None:
            result[:, emits] = value
    return result

def rule(kind, read, state):
    reads = next(reads for reads, _, of_kind in steps if of_kind == kind)
    for variable, value in zip(reads, read):
        state = state * sizes[variable] + value
    return tables[kind][state]
"""


@dataclass
class Problem:
    method: str  # for summaries
    source: str  # makes `know`
    know: object
    oracle: Oracle
    outputs: list  # how many values each output has
    given: list = field(default_factory=list)
    asked: tuple | None = None  # the output that labels are about where they name none
    exact: bool = True  # whether its answers should be those of the oracle
    promises: str = ""  # of a learned one: "pruned" where every world that it draws gives the output
    chances: list = field(default_factory=list)  # log-beliefs of variables that the program itself believes in
    terms: dict | None = None  # labels as the program's answers, by output
    may_refuse: tuple = ()  # queries that may be refused with a ValueError
    weights: object = None  # of soft clauses: whether each holds, by world

    @property
    def perceived(self):
        """How many values each variable has that logits are of."""
        return self.oracle.domains[: len(self.oracle.domains) - len(self.chances)]


class Skipped(Exception):
    """Nothing to be asked: the program says why."""


def about_to_run(source):
    """Is told each text before it runs, for it may crash; oracle_test.py puts something in its place."""


def run(source):
    """What a problem's text defines."""
    about_to_run(source)
    names = {"torch": torch, "anesi": anesi}
    exec(compile(source, "problem", "exec"), names)  # a text of our own
    return names


def listed(function, domains, given=()):
    """The oracle of a function of torch tensors."""

    def ask(worlds, told=None):
        parts = [torch.from_numpy(np.ascontiguousarray(part)) for part in ((worlds,) if told is None else (worlds, told))]
        return torch.as_tensor(function(*parts)).to(torch.int64).numpy()

    return Oracle.of(ask, domains, given)


def random_domains(draw, most, largest=4, points=150):
    while True:
        domains = [draw.randint(1, largest) for _ in range(draw.randint(1, most))]
        if math.prod(domains) <= points:
            return domains


def random_outputs(draw, points, outputs, ends=False):
    """Outputs of all worlds: any, or few, or the same for all; with ends, some are cut short."""
    every = list(itertools.product(*map(range, outputs)))
    count = draw.choice([len(every), len(every), 2, 1])
    some = draw.sample(every, min(count, len(every)))
    if ends:
        some = [output[: draw.randint(1, len(output))] for output in some]
        some = [output + (-1,) * (len(outputs) - len(output)) for output in some]
    return [list(draw.choice(some)) for _ in range(points)]


def as_options(options):
    return "".join(f", {name}={value!r}" for name, value in options.items())


def table_source(table, domains, outputs, given, options=""):
    """A function that is a table."""
    worlds = "torch.cat([given, w], 1)" if given else "w"
    values = "table[place(worlds, sizes)]" + ("" if len(outputs) > 1 else ".squeeze(1)")
    return (
        f"{PLACE}\nsizes, table = {[*given, *domains]}, torch.tensor({table})\n\n"
        f"def function(w{', given' if given else ''}):\n    worlds = {worlds}\n    return {values}\n\n"
        f"know = anesi.Knowledge(function, {domains}, {outputs}, {f'given={given}, ' if given else ''}verbose=False{options})\n"
    )


def random_table(draw, ends=False):
    domains = random_domains(draw, 4)
    given = random_domains(draw, 2, 3) if draw.random() < 0.25 else []
    outputs = [draw.randint(1, 4) for _ in range(draw.randint(2 if ends else 1, 3))]
    table = random_outputs(draw, math.prod(given + domains), outputs, ends)
    return domains, given, outputs, table


def enumeration(draw):
    ends = draw.random() < 0.3
    domains, given, outputs, table = random_table(draw, ends)
    how = draw.choice([{}, {"architecture": "exact"}, {"architecture": "exact", "settings": {"exact.method": "enumerate"}}])
    source = table_source(table, domains, outputs, given, as_options(how))
    made = run(source)
    return Problem("enumeration", source, made["know"], listed(made["function"], domains, given), outputs, given)


def declared_formula(draw):
    """A table, and the formula that says the same: each world implies the values of its outputs."""
    while True:
        domains, given, outputs, table = random_table(draw)
        if len(table) <= 60:
            break
    method = draw.choice(["circuit", "circuit", "conditioned", "enumerate", "auto"])
    options = as_options({"settings": {"exact.method": method}, "cnf": "CNF"}).replace("'CNF'", "cnf")
    formula = f"""
cnf = anesi.Cnf({given + domains}, {outputs})
for world, output in zip(itertools.product(*map(range, {given + domains})), {table}):
    unless = [-cnf.world(variable, value) for variable, value in enumerate(world)]
    for variable, value in enumerate(output):
        cnf.add([*unless, cnf.output(variable, value)])
"""
    source = "import itertools\n" + formula + table_source(table, domains, outputs, given, options)
    made = run(source)
    name = {"circuit": "circuit", "conditioned": "conditioned", "enumerate": "enumeration", "auto": "formula, auto"}[method]
    refuses = ("predict", "predict all", "explain predicted") if method == "conditioned" else ()
    oracle = listed(made["function"], domains, given)
    return Problem(name, source, made["know"], oracle, outputs, given, may_refuse=refuses)


def random_machine(draw, domains, states, emitted):
    """Steps that read all variables once, and tables for each kind of step."""
    order = draw.sample(range(len(domains)), len(domains))
    reads = []
    while order:
        count = min(len(order), draw.choice([1, 1, 1, 2]))
        reads.append([order.pop(0) for _ in range(count)])
    steps, outputs, kinds = [], [], {}
    for place, variables in enumerate(reads):
        last = place == len(reads) - 1
        emits = last or (draw.random() < 0.5 and len(outputs) < emitted)
        size = draw.randint(1, 4)
        kind = kinds.setdefault((tuple(domains[v] for v in variables), size if emits else 0), len(kinds))
        steps.append((variables, len(outputs) if emits else None, kind))
        outputs += [size] * emits
    tables = []
    for (sizes, size), _ in sorted(kinds.items(), key=lambda item: item[1]):
        rows = states * math.prod(sizes)
        tables.append([(draw.randrange(max(size, 1)), draw.randrange(states)) for _ in range(rows)])
    return steps, outputs, tables


def machine_source(steps, tables, domains, outputs, told=""):
    squeeze = "" if len(outputs) > 1 else ".squeeze(1)"
    return (
        f"sizes, steps, tables = {domains}, {steps}, {tables}\n{MACHINE}\n"
        f"def function(w):\n    return machine(w, {len(outputs)}){squeeze}\n\n"
        f"know = anesi.Knowledge(function, {domains}, {outputs}, verbose=False{told})\n"
    )


def declared_automaton(draw):
    domains, states = random_domains(draw, 6, points=400), draw.randint(1, 4)
    steps, outputs, tables = random_machine(draw, domains, states, 3)
    method = draw.choice(["auto", "automaton", "enumerate"])
    told = f", automaton=anesi.Automaton({domains}, {outputs}, steps, {states}, rule), settings={{'exact.method': '{method}'}}"
    source = machine_source(steps, tables, domains, outputs, told)
    made = run(source)
    name = "enumeration" if method == "enumerate" else "automaton, declared"
    return Problem(name, source, made["know"], listed(made["function"], domains), outputs)


FAST = "{'discover.draws': 1000, 'discover.distance': 0.01}"


def found_automaton(draw):
    """So many worlds that an automaton is looked for."""
    while True:
        domains = [draw.randint(1, 4) for _ in range(draw.randint(7, 14))]
        if 1 << 14 <= math.prod(domains) <= 1 << 15:
            break
    for _ in range(1000):
        steps, outputs, tables = random_machine(draw, domains, draw.randint(2, 3), 8)
        if math.prod(domains) * sum(outputs) > 1 << 18:
            break
    else:
        raise Skipped("no machine has enough outputs")
    source = machine_source(steps, tables, domains, outputs, f", settings={FAST}")
    made = run(source)
    know = made["know"]
    if not know.exact:
        raise Skipped("no automaton was found")
    name = "automaton, found" if know.automaton is not None else "enumeration"
    oracle = listed(made["function"], domains)
    if know.automaton is not None:
        found = know.automaton.run(torch.from_numpy(oracle.worlds)).numpy()
        if (found != oracle.outputs[()]).any():
            raise Skipped("the automaton that was found differs from the function on rare worlds, as it may")
    return Problem(name, source, know, oracle, outputs)


def found_tables(draw):
    """Outputs of a few variables each; exact if no two share one."""
    shared = draw.random() < 0.5
    variables = 10
    places = draw.sample(range(variables), variables)
    groups = [places[i : i + 2] for i in range(0, variables, 2)]
    if shared:
        groups = [[places[i], places[(i + 1) % variables]] for i in range(0, variables - 1)]
    sizes, outputs = [3] * 8 + [4] * 2, []
    tables = []
    for group in groups:
        outputs.append(draw.randint(2, 4))
        rows = sizes[group[0]] * sizes[group[1]]
        tables.append([draw.randrange(outputs[-1]) for _ in range(rows)])
    source = f"""
sizes, groups, tables = {sizes}, {groups}, {tables}

def function(w):
    return torch.stack([torch.tensor(t)[w[:, a] * sizes[b] + w[:, b]] for (a, b), t in zip(groups, tables)], 1)

know = anesi.Knowledge(function, sizes, {outputs}, verbose=False, settings={{'discover.states': 2, **{FAST}}})
"""
    made = run(source)
    know = made["know"]
    if know.architecture != "tables":
        raise Skipped("something else than tables was found")
    oracle = listed(made["function"], sizes)
    return Problem("tables, shared" if shared else "tables", source, know, oracle, outputs, exact=not shared)


# Formulas.


def holds(clauses, values):
    """Whether each clause holds where variable i is values[:, i - 1], bool [n, clauses]."""
    return np.stack([np.any([values[:, abs(l) - 1] == (l > 0) for l in clause], axis=0) for clause in clauses], 1)


def exactly_one_groups(clauses):
    """Variables of which one holds by a clause, and no two by others; None where two such groups overlap."""
    exclusive = {frozenset(map(abs, clause)) for clause in clauses if len(clause) == 2 and max(clause) < 0}
    found = []
    for clause in clauses:
        members = sorted(set(clause))
        if len(members) < 2 or members[0] < 0 or members in found:
            continue
        if all(frozenset(pair) in exclusive for pair in itertools.combinations(members, 2)):
            found.append(members)
    flat = [variable for members in found for variable in members]
    return found if len(set(flat)) == len(flat) else None


def merged(variables, groups):
    """What variables of the formula become: lists of literals, one for each value. A group of one is left out."""
    result = []
    for variable in variables:
        group = next((members for members in groups if variable in members and set(members) <= set(variables)), None)
        if group is None:
            result.append([-variable, variable])
        elif variable == group[0] and len(group) > 1:
            result.append(group)
    return result


def assignments(literals, points, variables):
    """The formula's variables, bool [n, variables], in worlds [n, len(literals)]."""
    values = np.zeros((len(points), variables), dtype=bool)
    for place, of_values in enumerate(literals):
        for value, literal in enumerate(of_values):
            if literal > 0:
                values[points[:, place] == value, literal - 1] = True
    return values


def random_clauses(draw, variables, count):
    clauses = []
    for _ in range(count):
        some = draw.sample(variables, min(len(variables), draw.choice([1, 2, 2, 3, 3])))
        clauses.append([v if draw.random() < 0.5 else -v for v in some])
    return clauses


def group_clauses(members):
    return [list(members)] + [[-a, -b] for a, b in itertools.combinations(members, 2)]


def formula(draw):
    as_ = draw.choice(["constraint", "constraint", "clauses", "definition"])
    count = draw.randint(2, 6)
    clauses, gates, wanted = [], [], None
    if draw.random() < 0.5:
        clauses += group_clauses(draw.sample(range(1, count + 1), draw.randint(2, min(3, count))))
    if as_ == "definition":
        for output in range(count + 1, count + 1 + draw.randint(1, 3)):
            a, b = (draw.choice([1, -1]) * draw.randint(1, output - 1) for _ in range(2))
            gate = draw.choice(["and", "xor", "is"])
            gates.append((output, gate, a, b))
            if gate == "and":
                clauses += [[-a, -b, output], [a, -output], [b, -output]]
            elif gate == "xor":
                clauses += [[-a, -b, -output], [a, b, -output], [a, -b, output], [-a, b, output]]
            else:
                clauses += [[-a, output], [a, -output]]
        clauses = [clause for clause in clauses if not any(-literal in clause for literal in clause)]
        every = [gate[0] for gate in gates]
        wanted = draw.sample(every, draw.randint(1, len(every))) if draw.random() < 0.5 else None
    else:
        clauses += random_clauses(draw, range(1, count + 1), draw.randint(1, 6))
    if as_ == "definition" and any(len({abs(l) for l in clause}) < len(clause) for clause in clauses):
        raise Skipped("a clause names a variable twice")
    draw.shuffle(clauses)
    groups = exactly_one_groups(clauses)
    if groups is None:
        raise Skipped("groups overlap")
    total = max(abs(literal) for clause in clauses for literal in clause)
    if as_ == "definition":
        total = max(total, count)
    else:
        count = total  # a formula's variables end with the last one that it names
    shown = list(range(1, count + 1))
    told = draw.sample(shown, draw.randint(1, 2)) if count > 3 and draw.random() < 0.35 else []
    # Of a group of which some are told, the variable of the world is about the others: which holds, if no told one does.
    split = [] if as_ == "clauses" else [members for members in groups if set(members) & set(told)]
    if as_ == "definition" and any(len(set(members) & set(told)) > 1 for members in split):
        raise Skipped("two of a group may be told to hold, and then there is no output")
    groups = [members for members in groups if not set(members) & set(told)]
    left = [[variable for variable in members if variable not in told] for members in split]
    literals = merged(told, []) + merged([v for v in shown if v not in told], groups + left)
    if len(literals) == len(told):
        raise Skipped("nothing is left to be a variable of the world")
    sizes = [len(each) for each in literals]
    if as_ == "definition":
        outputs_of = merged(wanted or list(range(count + 1, total + 1)), groups)
        outputs = [len(each) for each in outputs_of]
    elif as_ == "clauses":
        silent = {frozenset(clause) for members in groups for clause in group_clauses(members)}
        telling = [clause for clause in clauses if frozenset(clause) not in silent]
        if not telling:
            raise Skipped("all clauses say what groups are")
        outputs = [2] * len(telling)
    else:
        outputs = [2]

    def function(points):
        values = assignments(literals, points, total)
        for members, others in zip(split, left):
            one_holds = np.any([values[:, v - 1] for v in members if v in told], axis=0)
            for v in others:
                values[:, v - 1] = ~one_holds & (values[:, v - 1] | (len(others) == 1))
        if as_ == "constraint":
            return holds(clauses, values).all(1)
        if as_ == "clauses":
            return holds(telling, values)
        for output, gate, a, b in gates:
            x, y = (values[:, abs(literal) - 1] == (literal > 0) for literal in (a, b))
            values[:, output - 1] = x & y if gate == "and" else x ^ y if gate == "xor" else x
        columns = [np.stack([values[:, abs(l) - 1] == (l > 0) for l in each], 1).argmax(1) for each in outputs_of]
        return np.stack(columns, 1)

    oracle = Oracle.of(lambda worlds, given=None: function(worlds if given is None else np.concatenate([given, worlds], 1)),
                       sizes[len(told) :], sizes[: len(told)])  # fmt: skip
    method = draw.choice(["auto", "circuit", "conditioned", "enumerate"])
    options = {"settings": {"exact.method": method}}
    if as_ == "definition":
        options["shown"] = shown
        if wanted is not None:
            options["outputs"] = wanted
    if told:
        options["given"] = told
    source = f"know = anesi.Knowledge.from_cnf({clauses}, {as_!r}, verbose=False{as_options(options)})\n"
    if as_ == "constraint" and not any((y == 1).any() for y in oracle.outputs.values()):
        try:
            run(source)
        except RuntimeError as error:
            raise Skipped("no world satisfies the formula") from error
        raise AssertionError(f"a formula without a model was accepted\n{source}")
    try:
        know = run(source)["know"]
    except RuntimeError as error:  # clauses that cannot all hold are refused
        values = np.array(list(itertools.product([False, True], repeat=total)))
        if as_ == "definition" or holds(clauses, values).all(1).any():
            raise
        raise Skipped("the formula has no model") from error
    name = f"from_cnf {as_}, " + {"enumerate": "enumeration"}.get(method, method)
    refuses = ("predict", "predict all", "explain predicted") if method == "conditioned" else ()
    asked = (1,) if as_ == "constraint" else None
    return Problem(name, source, know, oracle, outputs, sizes[: len(told)], asked, may_refuse=refuses)


# Programs. Rules are the same in Prolog and in answer sets: a body is a list of pairs of a sign and an atom.


def random_rules(draw, atoms):
    atoms, rules = list(atoms), []
    for head in range(draw.randint(2, 5)):
        for _ in range(draw.randint(1, 3)):
            rules.append((f"p{head}", [(draw.random() < 0.6, draw.choice(atoms)) for _ in range(draw.randint(1, 3))]))
        atoms.append(f"p{head}")
    return rules, atoms[-1]


def consequences(rules, true):
    """Which atoms hold; no rule needs a head of later rules."""
    true = set(true)
    for head, body in rules:
        if all((atom in true) == sign for sign, atom in body):
            true.add(head)
    return true


def rules_text(rules, negation):
    return "\n".join(f"{head} :- {', '.join(('' if sign else negation) + atom for sign, atom in body)}." for head, body in rules)


def program_oracle(variables, answer_of, outputs_of):
    """variables: of each, its values; answer_of: from the values of all variables to an answer."""
    domains = [len(values) for values in variables]
    worlds = itertools.product(*variables)
    return Oracle([outputs_of(answer_of(world)) for world in worlds], domains)


def problog(draw):
    if not importlib.util.find_spec("problog"):
        raise Skipped("problog is not installed")
    names = ["a", "b", "c"][: draw.randint(1, 3)]
    sizes = {name: draw.randint(2, 3) for name in names}
    nets = "".join(f"nn(net_{name}, [X], Y, {list(range(size))}) :: {name}(X, Y).\n" for name, size in sizes.items())
    chance = draw.choice([None, None, "fact", "disjunction"])
    shares = [0.25, 0.375] if chance == "disjunction" else [draw.choice([0.0, 0.125, 0.5, 0.875])]
    of_chance = {"fact": ["luck"], "disjunction": ["low", "high"]}.get(chance, [])
    text = "; ".join(f"{share} :: {atom}" for share, atom in zip(shares, of_chance)) + "." * bool(of_chance)
    limit = draw.choice([20_000, 0])
    if draw.random() < 0.5:  # propositional rules
        rules, query = random_rules(draw, [f"{name}(x, {draw.randrange(size)})" for name, size in sizes.items()] + of_chance)
        program, answers = f"{nets}{text}\n{rules_text(rules, chr(92) + '+ ')}\n", None
    else:
        times = [draw.randint(1, 3) for _ in names]
        terms = " + ".join(f"{factor} * D{name}" for factor, name in zip(times, names))
        body = ", ".join(f"{name}(x, D{name})" for name in names)
        modulus, query = draw.randint(2, 6), "sum(S)"
        program = f"{nets}{text}\nsum(S) :- {body}, S is ({terms}) mod {modulus}."
        if of_chance:
            program = f"{nets}{text}\nsum(S) :- {body}, {of_chance[0]}, S is ({terms}) mod {modulus}.\n"
            program += f"sum(S) :- {body}, \\+ {of_chance[0]}, S is ({terms} + 1) mod {modulus}."
    source = f"import anesi.problog\nknow = anesi.problog.Knowledge({program!r}, {query!r}, limit={limit}, verbose=False)\n"
    try:
        know = run(source)["know"]
    except ValueError as error:
        raise Skipped("the query depends on no neural predicate") if "no neural predicate" in str(error) else error

    if len(know.worlds) > len(know.inputs) + len(know.chances):
        raise AssertionError(f"more variables than inputs and chances\n{source}")
    read = [variable.network.removeprefix("net_") for variable in know.inputs]
    variables = [[(name, value) for value in range(sizes[name])] for name in read]
    chances = []
    for variable in know.chances:
        variables.append([("chance", value if value in of_chance else None) for value in variable.values])
        shares_of = [shares[of_chance.index(value)] if value in of_chance else None for value in variable.values]
        rest = 1 - sum(share for share in shares_of if share is not None)
        shares_of = [rest if share is None else share for share in shares_of]
        with np.errstate(divide="ignore"):
            chances.append(np.log(np.array(shares_of)))

    def answer_of(world):
        read_of = {name: 0 for name in names} | {name: value for name, value in world if name != "chance"}
        lucky = [value for name, value in world if name == "chance"]
        if not query.startswith("sum"):
            true = {f"{name}(x, {value})" for name, value in read_of.items()} | set(lucky)
            return query in consequences(rules, true)
        total = sum(factor * read_of[name] for factor, name in zip(times, names))
        return (total + bool(of_chance and of_chance[0] not in lucky)) % modulus

    if query.startswith("sum"):
        largest = max(know.answers)
        outputs, outputs_of = [largest + 1], lambda answer: [answer]
        terms_of = {(value,): value for value in know.answers}
    else:
        outputs, outputs_of = [2], lambda answer: [int(answer)]
        terms_of = {(0,): False, (1,): True}
    oracle = program_oracle(variables, answer_of, outputs_of)
    return Problem("problog, ground" if limit else "problog, run", source, know, oracle, outputs, chances=chances, terms=terms_of)


def answer_sets(draw):
    if not importlib.util.find_spec("clingo"):
        raise Skipped("clingo is not installed")
    names = ["a", "b", "c"][: draw.randint(1, 3)]
    sizes = {name: draw.randint(1, 3) for name in names}
    choices = "{" + ", ".join(f"'{name}(D)': range({size})" for name, size in sizes.items()) + "}"
    partial = False
    if draw.random() < 0.5:
        rules, query = random_rules(draw, [f"{name}({draw.randrange(size)})" for name, size in sizes.items()])
        program = rules_text(rules, "not ")

        def answer_of(world):
            return query in consequences(rules, {f"{name}({value})" for name, value in zip(names, world)})

    else:
        times, modulus = [draw.randint(-2, 3) for _ in names], draw.randint(2, 7)
        terms, query = " + ".join(f"{factor} * D{name}" for factor, name in zip(times, names)), "sum(S)"
        body = ", ".join(f"{name}(D{name})" for name in names)
        partial = draw.random() < 0.4
        beyond = f", {names[0]}(E), E != 0" if partial else ""
        program = f"sum(({terms} + 20) \\ {modulus}) :- {body}{beyond}."

        def answer_of(world):
            if partial and world[0] == 0:
                return None
            return (sum(factor * value for factor, value in zip(times, world)) + 20) % modulus

    source = f"import anesi.asp\nknow = anesi.asp.Knowledge({program!r}, {choices}, {query!r}, partial={partial}, verbose=False)\n"
    variables = [range(sizes[name]) for name in names]
    answers = {answer_of(world) for world in itertools.product(*variables)}
    if answers == {None}:
        raise Skipped("no world has an answer")
    know = run(source)["know"]
    # How answers become outputs is the package's to say: encode() is checked to tell all answers apart.
    coded = {answer: tuple(know.encode([answer])[0].tolist()) for answer in answers}
    if len(set(coded.values())) != len(coded):
        raise AssertionError(f"two answers have one code: {coded}\n{source}")
    oracle = program_oracle(variables, answer_of, lambda answer: list(coded[answer]))
    return Problem("asp", source, know, oracle, list(know.outputs), terms={code: answer for answer, code in coded.items()})


def markov(draw):
    count = draw.randint(2, 5)
    hard = group_clauses(draw.sample(range(1, count + 1), 2)) if draw.random() < 0.4 else []
    if draw.random() < 0.5:
        hard += random_clauses(draw, range(1, count + 1), draw.randint(1, 2))
    soft = random_clauses(draw, range(1, count + 1), draw.randint(1, 5))
    weights = [draw.choice([0.0, 0.5, 1.25, -0.75, 3.0, -6.5, 20.0]) for _ in soft]
    groups = exactly_one_groups(hard)
    if groups is None:
        raise Skipped("groups overlap")
    used = max(abs(literal) for clause in hard + soft for literal in clause)
    literals = merged(list(range(1, used + 1)), groups)
    domains = [len(each) for each in literals]
    worlds = np.array(list(itertools.product(*map(range, domains))))
    values = assignments(literals, worlds, used)
    keeps = holds(hard, values).all(1) if hard else np.ones(len(worlds), dtype=bool)
    if not keeps.any():
        raise Skipped("no world keeps the hard clauses")
    truth = holds(soft, values)
    pairs = [(weight, clause) for weight, clause in zip(weights, soft)] + [(None, clause) for clause in hard]
    source = f"know = anesi.markov.Knowledge({pairs})\n"
    know = run(source)["know"]
    oracle = Oracle(keeps.astype(np.int64)[:, None], domains, log_factor=truth @ np.array(weights))
    return Problem("markov", source, know, oracle, [2], asked=(1,), weights=truth)


# Learned q: what it promises, for a table or for a formula under a pruner.

LEARNED = {
    "transducer": {"transducer.states": 4},
    "scan": {"scan.width": 16},
    "mlp": {"mlp.width": 16, "mlp.layers": 1},
}


def learned(draw):
    architecture = draw.choice(sorted(LEARNED))
    settings = {"q.pretrain": draw.choice([0, 5, 20]), "q.samples": 16, **LEARNED[architecture]}
    if draw.random() < 0.5:
        domains, given, outputs, table = random_table(draw)
        settings["q.variant"] = draw.choice(["predict", "explain"])
        options = as_options({"architecture": architecture, "settings": settings})
        source = table_source(table, domains, outputs, given, options)
        made = run(source)
        oracle = listed(made["function"], domains, given)
        return Problem(architecture, source, made["know"], oracle, outputs, given, exact=False)
    settings["q.variant"] = "prune"
    count = draw.randint(2, 5)
    clauses = random_clauses(draw, range(1, count + 1), draw.randint(1, 4)) + [[-count, count]]
    values = np.array(list(itertools.product([0, 1], repeat=count)))
    keeps = holds(clauses, values.astype(bool)).all(1)
    if not keeps.any() or exactly_one_groups(clauses):
        raise Skipped("no world satisfies the formula, or it has a group")
    options = {"architecture": architecture, "settings": settings, "seconds": draw.choice([0, 5])}
    source = f"know = anesi.Knowledge.from_cnf({clauses}, verbose=False{as_options(options)})\n"
    know = run(source)["know"]
    oracle = Oracle(keeps.astype(np.int64)[:, None], [2] * count)
    return Problem(f"{architecture}, pruned", source, know, oracle, [2], asked=(1,), exact=False, promises="pruned")


KINDS = [  # how many of a hundred
    (enumeration, 17), (declared_formula, 17), (declared_automaton, 11), (found_automaton, 4), (found_tables, 3), (formula, 20),
    (problog, 8), (answer_sets, 5), (markov, 5), (learned, 10),
]  # fmt: skip


def random_problem(draw):
    """Of a random kind. Raises Skipped, so that the next number is taken."""
    make = draw.choices([kind for kind, _ in KINDS], [share for _, share in KINDS])[0]
    return make(draw)
