"""Evaluates the functions of a PowerShell module, where no PowerShell can be had: it walks the tree of the published
grammar and knows only what launchers/arguments.psm1 uses, with PowerShell's meaning of it. Anything else is an error, so
that a construct nobody thought of cannot pass unseen.

    powershell.py MODULE < [{"function": NAME, "arguments": {PARAMETER: VALUE}}, …] > [{"value": …} | {"thrown": TEXT}, …]
"""
import base64
import json
import re
import sys

import tree_sitter
import tree_sitter_powershell


class Thrown(Exception):
    pass


class Return(Exception):
    pass


class Break(Exception):
    pass


class Block:
    """A script block or function: parameters and body."""

    def __init__(self, node):
        self.parameters = [self.parameter(n) for p in find(node, "param_block") for n in find(p, "script_parameter")]
        bodies = [c for c in node.children if c.type in ("script_block", "script_block_body")] or [node]
        while bodies[0].type == "script_block":
            bodies = [c for c in bodies[0].children if c.type == "script_block_body"]
        self.body = bodies[0]

    @staticmethod
    def parameter(node):
        name = next(text(c)[1:] for c in node.children if c.type == "variable")
        default = next((c.named_children[0] for c in node.children if c.type == "script_parameter_default"), None)
        types = [text(n).lower() for n in find(node, "type_literal")]
        allowed = [literal(s) for a in find(node, "attribute_arguments") for s in find(a, "string_literal")]
        return name, default, types[-1] if types else "", allowed


def text(node):
    return node.text.decode()


def find(node, kind):
    """The nearest descendants of a kind, not those inside of functions below."""
    found = []
    for child in node.children:
        if child.type == kind:
            found.append(child)
        elif child.type not in ("function_statement", "script_block_expression"):
            found += find(child, kind)
    return found


def literal(node):
    return text(node)[1:-1].replace("''", "'")


def regex(pattern):
    return re.compile(re.sub(r"\(\?<(?=[A-Za-z])", "(?P<", pattern), re.IGNORECASE)


def truth(value):
    return bool(value[0] if isinstance(value, list) and len(value) == 1 else value)


def listed(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def typed(value, kind):
    if kind == "[string[]]":
        return ["" if v is None else str(v) for v in listed(value)]
    if kind == "[string]":
        return "" if value is None else str(value)
    if kind == "[bool]":
        return truth(value)
    return value


class Evaluator:
    def __init__(self, source):
        tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language())).parse(source)
        if tree.root_node.has_error:
            raise SyntaxError("the module does not parse")
        self.functions, self.script = {}, {}
        for node in tree.root_node.named_children:
            for statement in node.named_children if node.type == "statement_list" else [node]:
                if statement.type == "function_statement":
                    self.functions[text(statement.named_children[0])] = Block(statement)
                elif "$script:" in text(statement):
                    self.run(statement, {})

    # --- statements: each gives what it writes to the pipeline, as a list ---

    def run(self, node, scope):
        method = getattr(self, "run_" + node.type, None)
        if method:
            return method(node, scope)
        if node.type in ("statement_list", "statement_block", "script_block_body", "script_block"):
            return [v for c in node.named_children for v in self.run(c, scope)]
        if node.type in ("comment", "empty_statement", "param_block"):
            return []
        value = self.value(node, scope)
        return [] if value is None else list(value) if isinstance(value, list) else [value]

    def run_pipeline(self, node, scope):
        (only,) = node.named_children
        return self.run(only, scope)

    run_pipeline_chain = run_pipeline

    def run_assignment_expression(self, node, scope):
        target, _, source = node.named_children
        names = [text(v) for v in ([target] if target.type == "variable" else find(target, "variable"))]
        if source.type == "pipeline" and source.named_children[0].type == "if_statement":
            source = source.named_children[0]
        written = self.run(source, scope) if source.type == "if_statement" else None
        value = self.value(source, scope) if written is None else written[0] if len(written) == 1 else written or None
        if len(names) == 1:
            self.assign(names[0], value, scope)
            return []
        values = listed(value)
        for i, name in enumerate(names):
            rest = values[i:] if i == len(names) - 1 else values[i : i + 1]
            self.assign(name, rest[0] if len(rest) == 1 else rest or None, scope)
        return []

    def assign(self, name, value, scope):
        if name.startswith("$script:"):
            self.script[name[8:].lower()] = value
        else:
            scope[name[1:].lower()] = value

    def run_if_statement(self, node, scope):
        condition, block, *others = node.named_children
        if truth(self.value(condition, scope)):
            return self.run(block, scope)
        clauses = [c for o in others for c in (o.named_children if o.type == "elseif_clauses" else [o])]
        for clause in clauses:
            if clause.type == "else_clause":
                return self.run(clause.named_children[0], scope)
            if truth(self.value(clause.named_children[0], scope)):
                return self.run(clause.named_children[1], scope)
        return []

    def run_for_statement(self, node, scope):
        start, condition, step, block = node.named_children
        self.run(start.named_children[0], scope)
        written = []
        try:
            while truth(self.value(condition.named_children[0], scope)):
                written += self.run(block, scope)
                self.run(step.named_children[0], scope)
        except Break:
            pass
        return written

    def run_foreach_statement(self, node, scope):
        variable, items, block = node.named_children
        written = []
        for item in listed(self.value(items, scope)):
            self.assign(text(variable), item, scope)
            written += self.run(block, scope)
        return written

    def run_flow_control_statement(self, node, scope):
        word = text(node.children[0])
        if word == "break":
            raise Break
        written = self.run(node.named_children[0], scope) if node.named_children else []
        raise Return(written) if word == "return" else Thrown(" ".join(map(str, written)))

    # --- expressions ---

    def value(self, node, scope):
        method = getattr(self, "value_" + node.type, None)
        if method:
            return method(node, scope)
        if node.child_count == 1 and len(node.named_children) == 1:
            return self.value(node.named_children[0], scope)
        if node.type.endswith("_expression") and len(node.children) == 3 and len(node.named_children) >= 2:
            left, operator, right = node.children
            return self.operate(text(operator).lower(), left, right, scope)
        raise NotImplementedError(f"{node.type}: {text(node)}")

    def operate(self, operator, left_node, right_node, scope):
        left = self.value(left_node, scope)
        if operator in ("-and", "-or"):
            return truth(self.value(right_node, scope)) if truth(left) == (operator == "-and") else operator == "-or"
        right = self.value(right_node, scope)
        if operator in ("-ceq", "-eq", "-ne", "-cne"):
            fold = (lambda v: v.lower()) if operator in ("-eq", "-ne") else (lambda v: v)
            same = fold(left) == fold(right) if isinstance(left, str) and isinstance(right, str) else left == right
            return same != operator.endswith("ne")
        if operator == "-ccontains":
            return right in listed(left)
        if operator in ("-match", "-notmatch"):
            found = regex(right).search(left)
            if found:
                scope["matches"] = {k: v for k, v in found.groupdict().items() if v is not None} | {0: found[0]}
            return bool(found) == (operator == "-match")
        if operator == "-replace":
            pattern, replacement = right
            return regex(pattern).sub(lambda m: re.sub(r"\$(\d)", lambda g: m[int(g[1])], replacement), left)
        if operator == "-split":
            separator, count = right
            return regex(separator).split(left, count - 1)
        simple = {"-lt": lambda: left < right, "-gt": lambda: left > right, "+": lambda: left + right}
        if operator not in simple:
            raise NotImplementedError(operator)
        return simple[operator]()

    def value_expression_with_unary_operator(self, node, scope):
        operator, operand = text(node.children[0]).lower(), node.named_children[-1]
        value = self.value(operand, scope)
        if operator in ("-not", "!"):
            return not truth(value)
        if operator == ",":
            return [value]
        raise NotImplementedError(operator)

    def value_post_increment_expression(self, node, scope):
        name = text(node.named_children[0])
        self.assign(name, scope[name[1:].lower()] + 1, scope)

    def value_array_literal_expression(self, node, scope):
        values = [self.value(c, scope) for c in node.named_children]
        return values if len(values) > 1 else values[0]

    def value_array_expression(self, node, scope):
        return [v for c in node.named_children for v in self.run(c, scope)]

    def value_parenthesized_expression(self, node, scope):
        return self.value(node.named_children[0], scope)

    def value_decimal_integer_literal(self, node, scope):
        return int(text(node))

    def value_verbatim_string_characters(self, node, scope):
        return literal(node)

    def value_expandable_string_literal(self, node, scope):
        def expand(m):
            return m[1] if m[1] else str(self.variable(m[2] or m[3], scope))
        return re.sub(r"`(.)|\$\{(\w+)\}|\$(\w+)", expand, text(node)[1:-1])

    def value_variable(self, node, scope):
        return self.variable(text(node)[1:].strip("{}"), scope)

    def variable(self, name, scope):
        name = name.lower()
        if name.startswith("script:"):
            return self.script[name[7:]]
        constants = {"true": True, "false": False, "null": None}
        return constants[name] if name in constants else scope[name]

    def value_element_access(self, node, scope):
        base, index = (self.value(c, scope) for c in node.named_children)
        if isinstance(base, dict):
            return base.get(index)
        return base[index] if -len(base) <= index < len(base) else None

    def value_script_block_expression(self, node, scope):
        return Block(node.named_children[0]), scope

    def value_type_literal(self, node, scope):
        return text(node)

    def value_member_access(self, node, scope):
        base, name = self.value(node.named_children[0], scope), text(node.named_children[1])
        if name in ("Count", "Length") and isinstance(base, (list, str)):
            return len(base)
        if (base, name) in (("[StringComparison]", "Ordinal"), ("[Text.Encoding]", "UTF8")):
            return name
        raise NotImplementedError(text(node))

    def value_invokation_expression(self, node, scope):
        base_node, name_node, *rest = node.named_children
        base, name = self.value(base_node, scope), text(name_node)
        arguments = []
        for node in (c for r in rest for c in r.named_children):
            several = node.type == "argument_expression_list"
            arguments += [self.value(c, scope) for c in (node.named_children if several else [node])]
        return self.invoke(base, name, arguments)

    @staticmethod
    def invoke(base, name, arguments):
        static = {("[regex]", "Escape"): re.escape, ("UTF8", "GetBytes"): lambda t: t.encode(),
                  ("[Convert]", "ToBase64String"): lambda b: base64.b64encode(b).decode()}
        if isinstance(base, str) and (base, name) in static:
            return static[base, name](*arguments)
        if isinstance(base, list):
            return {"Add": base.append, "ToArray": lambda: list(base)}[name](*arguments)
        methods = {"StartsWith": lambda prefix, _: base.startswith(prefix), "Substring": lambda start: base[start:],
                   "Replace": base.replace, "TrimStart": base.lstrip, "ToLowerInvariant": base.lower,
                   "ToUpperInvariant": base.upper}
        return methods[name](*arguments)

    # --- commands ---

    def value_command(self, node, scope):
        elements = [c for e in node.named_children if e.type == "command_elements" for c in e.named_children
                    if c.type != "command_argument_sep"]
        head = node.named_children[0]
        if head.type == "command_invokation_operator":
            block, outer = self.value(node.named_children[1], scope)
            return self.call(block, {}, [self.argument(e, scope) for e in elements], outer)
        name = text(head)
        if name == "New-Object":
            assert text(elements[0]) == "System.Collections.Generic.List[string]", text(node)
            return []
        named, positional = {}, []
        while elements:
            element = elements.pop(0)
            if element.type == "command_parameter":
                named[text(element)[1:].lower()] = self.argument(elements.pop(0), scope)
            else:
                positional.append(self.argument(element, scope))
        return self.call(self.functions[name], named, positional, {})

    def argument(self, node, scope):
        return text(node) if node.type == "generic_token" else self.value(node, scope)

    def call(self, block, named, positional, outer):
        scope = dict(outer)
        for name, default, kind, allowed in block.parameters:
            lower = name.lower()
            if lower in named:
                value = named.pop(lower)
            elif positional:
                value = positional.pop(0)
            else:
                value = self.value(default, scope) if default else None
            scope[lower] = typed(value, kind)
            if allowed and scope[lower] not in allowed:
                raise Thrown(f"{name} is not one of {allowed}")
        assert not named and not positional, (named, positional)
        try:
            written = self.run(block.body, scope)
        except Return as answer:
            written = answer.args[0]
        return written[0] if len(written) == 1 else written or None


def main():
    with open(sys.argv[1], "rb") as module:
        evaluator = Evaluator(module.read())
    answers = []
    for call in json.load(sys.stdin):
        named = {k.lower(): v for k, v in call["arguments"].items()}
        try:
            answers.append({"value": evaluator.call(evaluator.functions[call["function"]], named, [], {})})
        except Thrown as thrown:
            answers.append({"thrown": str(thrown)})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
