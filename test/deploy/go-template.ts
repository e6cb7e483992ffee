import { stringify } from 'yaml'

/**
 * A renderer for the part of Go's `text/template` and of Helm's functions that our chart uses, because neither
 * npm nor Debian has Helm. It throws an error for everything else, so the chart cannot use a construct
 * that it renders wrongly without notice: other actions, functions, verbs of `printf`, fields of null.
 */
type Value = unknown
type Token = { readonly kind: 'text' | 'action'; readonly text: string }

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly pipeline: Pipeline }
  | { readonly kind: 'set'; readonly name: string; readonly pipeline: Pipeline }
  | {
      readonly kind: 'if' | 'with' | 'range'
      readonly pipeline: Pipeline
      readonly variables: readonly string[]
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
    }

type Operand =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'path'; readonly variable: string | null; readonly fields: readonly string[] }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'nested'; readonly pipeline: Pipeline }
type Command = readonly Operand[]
type Pipeline = readonly Command[]

function tokens(template: string): Token[] {
  const parts = template.split(/\{\{(-(?=\s))?([\s\S]*?)((?<=\s)-)?\}\}/)
  const found: Token[] = []
  for (let at = 0; at < parts.length; at += 4) {
    let text = parts[at] as string
    if (parts[at - 1] === '-') text = text.trimStart()
    if (parts[at + 1] === '-') text = text.trimEnd()
    found.push({ kind: 'text', text })
    const action = parts[at + 2]?.trim()
    if (action !== undefined && !/^\/\*[\s\S]*\*\/$/.test(action))
      found.push({ kind: 'action', text: action })
  }
  return found
}

const wordPattern = /\s*("(?:[^"\\]|\\.)*"|\d+|[()|]|\$?[\w]*(?:\.\w+)+|\$\w*|\.|\w+)/y

function words(text: string): string[] {
  const found: string[] = []
  wordPattern.lastIndex = 0
  while (wordPattern.lastIndex < text.trimEnd().length) {
    const from = wordPattern.lastIndex
    const [, word] = wordPattern.exec(text) ?? []
    if (word === undefined) throw new Error(`unknown syntax in ${text} at ${from}`)
    found.push(word)
  }
  return found
}

function parsePipeline(text: string): Pipeline {
  const left = words(text)
  const pipeline = readPipeline(left)
  if (left.length > 0) throw new Error(`unexpected ${left[0]} in ${text}`)
  return pipeline
}

function readPipeline(left: string[]): Pipeline {
  const commands: Operand[][] = [[]]
  while (left.length > 0 && left[0] !== ')') {
    const word = left.shift() as string
    if (word === '|') commands.push([])
    else if (word === '(') {
      commands.at(-1)?.push({ kind: 'nested', pipeline: readPipeline(left) })
      if (left.shift() !== ')') throw new Error('a bracket is not closed')
    } else commands.at(-1)?.push(operandOf(word))
  }
  if (commands.some((each) => each.length === 0)) throw new Error('a command is empty')
  return commands
}

function operandOf(word: string): Operand {
  if (word.startsWith('"')) return { kind: 'value', value: JSON.parse(word) as string }
  if (/^\d+$/.test(word)) return { kind: 'value', value: Number(word) }
  if (word === 'true' || word === 'false') return { kind: 'value', value: word === 'true' }
  if (/^[.$]/.test(word)) {
    const [first = '', ...fields] = word.split('.')
    return {
      kind: 'path',
      variable: first === '' ? null : first,
      fields: fields.filter((each) => each !== ''),
    }
  }
  return { kind: 'function', name: word }
}

class Parser {
  readonly definitions = new Map<string, readonly Node[]>()
  readonly #left: Token[]

  constructor(template: string) {
    this.#left = tokens(template)
  }

  /** Reads until one of the words, or the end of the file. Returns the nodes and the action that ended them. */
  read(inside: boolean): { readonly nodes: readonly Node[]; readonly end: string } {
    const nodes: Node[] = []
    for (let token = this.#left.shift(); token !== undefined; token = this.#left.shift()) {
      if (token.kind === 'text') nodes.push(token as Node)
      else if (/^(end|else)\b/.test(token.text)) {
        if (!inside) throw new Error(`unexpected ${token.text}`)
        return { nodes, end: token.text }
      } else {
        const node = this.#action(token.text)
        if (node !== null) nodes.push(node)
      }
    }
    if (inside) throw new Error('an action has no end')
    return { nodes, end: '' }
  }

  #action(text: string): Node | null {
    const define = /^define "([^"]+)"$/.exec(text)?.[1]
    if (define !== undefined) {
      this.definitions.set(define, this.read(true).nodes)
      return null
    }
    const [, kind, rest] = /^(if|with|range)\s+([\s\S]+)$/.exec(text) ?? []
    if (kind !== undefined) return this.#block(kind as 'if', rest as string)
    const [, name, value] = /^(\$\w+)\s*:=\s*([\s\S]+)$/.exec(text) ?? []
    if (name !== undefined) return { kind: 'set', name, pipeline: parsePipeline(value as string) }
    return { kind: 'output', pipeline: parsePipeline(text) }
  }

  #block(kind: 'if' | 'with' | 'range', text: string): Node {
    const [, names = '', value = text] = /^(\$\w+(?:\s*,\s*\$\w+)?)\s*:=\s*([\s\S]+)$/.exec(text) ?? []
    const variables = names === '' ? [] : names.split(',').map((each) => each.trim())
    const { nodes, end } = this.read(true)
    const otherwise = this.#otherwise(end)
    return { kind, pipeline: parsePipeline(value), variables, body: nodes, otherwise }
  }

  #otherwise(end: string): readonly Node[] {
    if (end === 'end') return []
    if (end !== 'else') return [this.#block('if', end.replace(/^else if\s+/, ''))]
    const { nodes, end: last } = this.read(true)
    if (last !== 'end') throw new Error(`unexpected ${last}`)
    return nodes
  }
}

interface Scope {
  readonly dot: Value
  readonly variables: ReadonlyMap<string, Value>
}

const isEmpty = (value: Value): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === 0 ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

const printed = (value: Value): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') throw new Error('a map or a list has no text; use toYaml')
  return String(value)
}

const formatted = (format: Value, values: readonly Value[]): string => {
  const left = [...values]
  const text = String(format).replaceAll(/%(.)/g, (_, verb) => {
    if (verb !== 's') throw new Error(`printf has no %${verb} here`)
    if (typeof left[0] !== 'string') throw new Error('%s needs a text')
    return left.shift() as string
  })
  if (left.length > 0) throw new Error('printf has too many values')
  return text
}

const textOf = (value: Value): string => {
  if (typeof value !== 'string') throw new Error('not a text')
  return value
}

const functions: Readonly<Record<string, (...values: Value[]) => Value>> = {
  quote: (value) => JSON.stringify(printed(value)),
  default: (otherwise, value) => (isEmpty(value) ? otherwise : value),
  printf: (format, ...values) => formatted(format, values),
  toYaml: (value) =>
    stringify(value, { sortMapEntries: true, lineWidth: 0, version: '1.1', indentSeq: false }).trimEnd(),
  nindent: (spaces, text) =>
    `\n${textOf(text)
      .split('\n')
      .map((line) => ' '.repeat(Number(spaces)) + line)
      .join('\n')}`,
  eq: (one, two) => one === two,
  not: (value) => isEmpty(value),
  add: (...values) => values.reduce<number>((sum, each) => sum + Math.trunc(Number(each)), 0),
  int: (value) => Math.trunc(Number(value)),
  trunc: (length, text) => textOf(text).slice(0, Number(length)),
  trimSuffix: (suffix, text) =>
    textOf(text).endsWith(textOf(suffix))
      ? textOf(text).slice(0, textOf(text).length - textOf(suffix).length)
      : text,
  contains: (part, text) => textOf(text).includes(textOf(part)),
  list: (...values) => values,
  fail: (reason) => {
    throw new Error(printed(reason))
  },
}

export class GoTemplates {
  readonly #definitions = new Map<string, readonly Node[]>()
  readonly #files = new Map<string, readonly Node[]>()

  /** @param files template text by file name */
  constructor(files: ReadonlyMap<string, string>) {
    for (const [name, text] of files) {
      const parser = new Parser(text)
      this.#files.set(name, parser.read(false).nodes)
      for (const [defined, nodes] of parser.definitions) this.#definitions.set(defined, nodes)
    }
  }

  /** Renders one file. @throws Error for a construct that the renderer does not have, and for `fail` */
  render(file: string, data: Readonly<Record<string, Value>>): string {
    return this.#all(this.#files.get(file) ?? [], { dot: data, variables: new Map([['$', data]]) })
  }

  #all(nodes: readonly Node[], scope: Scope): string {
    let text = ''
    let variables = scope.variables
    for (const node of nodes) {
      const here = { dot: scope.dot, variables }
      if (node.kind === 'text') text += node.text
      else if (node.kind === 'output') text += printed(this.#value(node.pipeline, here))
      else if (node.kind === 'set')
        variables = new Map([...variables, [node.name, this.#value(node.pipeline, here)]])
      else text += this.#block(node, here)
    }
    return text
  }

  #block(node: Node & { readonly kind: 'if' | 'with' | 'range' }, scope: Scope): string {
    const value = this.#value(node.pipeline, scope)
    if (isEmpty(value)) return this.#all(node.otherwise, scope)
    if (node.kind === 'if') return this.#all(node.body, scope)
    if (node.kind === 'with') return this.#all(node.body, { ...scope, dot: value })
    const entries = Array.isArray(value)
      ? value.map((each, index) => [index, each] as const)
      : Object.entries(value as object).toSorted(([one], [two]) => (one < two ? -1 : 1))
    return entries
      .map(([key, each]) => {
        const bound = node.variables.length === 2 ? [key, each] : [each]
        const variables = new Map(scope.variables)
        for (const [index, name] of node.variables.entries()) variables.set(name, bound[index])
        return this.#all(node.body, { dot: each, variables })
      })
      .join('')
  }

  #value(pipeline: Pipeline, scope: Scope): Value {
    let last: { readonly value: Value } | null = null
    for (const command of pipeline) last = { value: this.#command(command, scope, last) }
    return last?.value
  }

  #command(command: Command, scope: Scope, piped: { readonly value: Value } | null): Value {
    const [first, ...rest] = command
    if (first?.kind !== 'function') {
      if (first === undefined || rest.length > 0 || piped !== null) throw new Error('not a function')
      return this.#operand(first, scope)
    }
    // Go evaluates the operands of `and` and `or` only until the result is known.
    if (first.name === 'and' || first.name === 'or') {
      let value: Value
      for (const operand of rest) {
        value = this.#operand(operand, scope)
        if (isEmpty(value) === (first.name === 'and')) return value
      }
      return value
    }
    const values = rest.map((each) => this.#operand(each, scope))
    if (piped !== null) values.push(piped.value)
    if (first.name === 'include') {
      const nodes = this.#definitions.get(textOf(values[0]))
      if (nodes === undefined) throw new Error(`no template ${textOf(values[0])}`)
      return this.#all(nodes, { dot: values[1], variables: new Map([['$', values[1]]]) })
    }
    const call = Object.hasOwn(functions, first.name) ? functions[first.name] : undefined
    if (call === undefined) throw new Error(`no function ${first.name}`)
    return call(...values)
  }

  #operand(operand: Operand, scope: Scope): Value {
    if (operand.kind === 'value') return operand.value
    if (operand.kind === 'nested') return this.#value(operand.pipeline, scope)
    if (operand.kind === 'function') return this.#command([operand], scope, null)
    if (operand.variable !== null && !scope.variables.has(operand.variable))
      throw new Error(`no variable ${operand.variable}`)
    const from = operand.variable === null ? scope.dot : scope.variables.get(operand.variable)
    return operand.fields.reduce((value, field) => {
      if (typeof value !== 'object' || value === null) throw new Error(`no field ${field}`)
      return (value as Record<string, unknown>)[field]
    }, from)
  }
}
