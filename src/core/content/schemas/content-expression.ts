import { memoized } from '../../base/maps.ts'
import { schemaLimits, textNode } from './schema-spec.ts'

/** A state of the automaton of a content expression. */
export interface ContentState {
  /** Whether the content may end here. */
  readonly isEnd: boolean
  /** The next state for each node name that may follow. */
  readonly next: ReadonlyMap<string, ContentState>
}

/** Thrown if a content expression is malformed or too expensive. */
export class ContentExpressionError extends Error {
  override readonly name = 'ContentExpressionError'
}

/** Counts the steps of the compilation of one schema. */
export class StepBudget {
  #left: number = schemaLimits.steps

  /** @throws ContentExpressionError if the steps are used up */
  take(steps = 1): void {
    this.#left -= steps
    if (this.#left < 0)
      throw new ContentExpressionError(
        'the content expressions of the schema are too complex; use fewer repetitions or names',
      )
  }
}

type Expression =
  | { readonly is: 'name'; readonly names: readonly string[] }
  | { readonly is: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly is: 'choice'; readonly parts: readonly Expression[] }
  | Repetition

interface Repetition {
  readonly is: 'repeat'
  readonly part: Expression
  readonly min: number
  readonly max: number
}

/** State of content that must be empty. */
export const noNodes: ContentState = { isEnd: true, next: new Map() }

/**
 * Compiles a content expression to a deterministic automaton. Matching takes one step for each child node.
 * @param namesOf returns the node names that a name or group stands for; an empty list if there are none
 * @throws ContentExpressionError
 */
export function compileExpression(
  source: string,
  namesOf: (name: string) => readonly string[],
  budget: StepBudget,
): ContentState {
  const expression = new ExpressionParser(source, namesOf).parse()
  if (expression === null) return noNodes
  const graph = new ExpressionGraph(budget)
  graph.add(expression, graph.start, graph.end)
  return graph.determine()
}

const tokenPattern = /\s*(\w+|[^\w\s])/gy

class ExpressionParser {
  readonly #namesOf: (name: string) => readonly string[]
  readonly #tokens: string[]
  #at = 0
  #depth = 0

  constructor(source: string, namesOf: (name: string) => readonly string[]) {
    this.#namesOf = namesOf
    this.#tokens = Array.from(source.matchAll(tokenPattern), ([, token]) => token as string)
  }

  /** Returns null for an expression without tokens. */
  parse(): Expression | null {
    if (this.#tokens.length === 0) return null
    const expression = this.#choice()
    const token = this.#token
    if (token !== undefined) throw new ContentExpressionError(`unexpected "${token}"`)
    return expression
  }

  get #token(): string | undefined {
    return this.#tokens[this.#at]
  }

  #takes(token: string): boolean {
    if (this.#token !== token) return false
    this.#at += 1
    return true
  }

  #choice(): Expression {
    const parts = [this.#sequence()]
    while (this.#takes('|')) parts.push(this.#sequence())
    return { is: 'choice', parts }
  }

  #sequence(): Expression {
    const parts = [this.#repeated()]
    while (this.#token !== undefined && this.#token !== ')' && this.#token !== '|')
      parts.push(this.#repeated())
    return { is: 'sequence', parts }
  }

  #repeated(): Expression {
    let part = this.#atom()
    for (let count = 0; ; count += 1) {
      if (count > schemaLimits.expressionDepth)
        throw new ContentExpressionError(`more than ${schemaLimits.expressionDepth} repetitions of one part`)
      if (this.#takes('+')) part = { is: 'repeat', part, min: 1, max: Number.POSITIVE_INFINITY }
      else if (this.#takes('*')) part = { is: 'repeat', part, min: 0, max: Number.POSITIVE_INFINITY }
      else if (this.#takes('?')) part = { is: 'repeat', part, min: 0, max: 1 }
      else if (this.#takes('{')) part = { is: 'repeat', part, ...this.#range() }
      else return part
    }
  }

  #range(): { min: number; max: number } {
    const min = this.#number()
    let max = min
    if (this.#takes(',')) max = this.#token === '}' ? Number.POSITIVE_INFINITY : this.#number()
    if (!this.#takes('}')) throw new ContentExpressionError('"}" is missing')
    if (max < min)
      throw new ContentExpressionError(
        `the range {${min},${max}} is empty; expected the smaller number first`,
      )
    return { min, max }
  }

  #number(): number {
    const token = this.#token ?? ''
    const number = Number(token)
    if (!/^\d{1,6}$/.test(token) || number > schemaLimits.repetitions)
      throw new ContentExpressionError(
        `"${token}" is not a number of repetitions from 0 to ${schemaLimits.repetitions}`,
      )
    this.#at += 1
    return number
  }

  #atom(): Expression {
    if (this.#takes('(')) {
      this.#depth += 1
      if (this.#depth > schemaLimits.expressionDepth)
        throw new ContentExpressionError(`more than ${schemaLimits.expressionDepth} nested parentheses`)
      const expression = this.#choice()
      if (!this.#takes(')')) throw new ContentExpressionError('")" is missing')
      this.#depth -= 1
      return expression
    }
    const token = this.#token
    if (token === undefined) throw new ContentExpressionError('a name is missing at the end')
    if (!/^\w/.test(token)) throw new ContentExpressionError(`unexpected "${token}"`)
    const names = this.#namesOf(token)
    if (names.length === 0)
      throw new ContentExpressionError(`"${token}" is not a node or a group; expected names from /nodes`)
    this.#at += 1
    return { is: 'name', names }
  }
}

interface Edge {
  /** Null: the edge takes no node. */
  readonly name: string | null
  readonly to: number
}

/** A state whose transitions are being computed, with the vertices of the graph that it stands for. */
interface OpenState extends ContentState {
  readonly vertices: readonly number[]
  readonly next: Map<string, ContentState>
}

/** The nondeterministic automaton of an expression. */
class ExpressionGraph {
  readonly start = 0
  readonly end = 1
  readonly #edges: Edge[][] = [[], []]
  readonly #budget: StepBudget

  constructor(budget: StepBudget) {
    this.#budget = budget
  }

  /** Adds the paths of an expression between two vertices. The parser limits the recursion. */
  add(expression: Expression, from: number, to: number): void {
    if (expression.is === 'name') for (const name of expression.names) this.#connect(from, to, name)
    else if (expression.is === 'choice') for (const part of expression.parts) this.add(part, from, to)
    else if (expression.is === 'sequence') {
      let at = from
      for (const [index, part] of expression.parts.entries()) {
        const next = index === expression.parts.length - 1 ? to : this.#vertex()
        this.add(part, at, next)
        at = next
      }
    } else this.#repeat(expression, from, to)
  }

  #repeat({ part, min, max }: Repetition, from: number, to: number): void {
    // A repetition has a vertex of its own at each end, so that its paths do not mix with those around it.
    let at = this.#vertex()
    this.#connect(from, at, null)
    for (let count = 0; count < min; count += 1) at = this.#append(part, at)
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#vertex()
      this.#connect(at, loop, null)
      this.add(part, loop, loop)
      at = loop
    } else {
      for (let count = min; count < max; count += 1) {
        this.#connect(at, to, null)
        at = this.#append(part, at)
      }
    }
    this.#connect(at, to, null)
  }

  #append(part: Expression, from: number): number {
    const to = this.#vertex()
    this.add(part, from, to)
    return to
  }

  #vertex(): number {
    this.#budget.take()
    return this.#edges.push([]) - 1
  }

  #connect(from: number, to: number, name: string | null): void {
    this.#budget.take()
    this.#edges[from]?.push({ name, to })
  }

  /** Returns the start of the equivalent deterministic automaton. */
  determine(): ContentState {
    const states = new Map<string, OpenState>()
    const waiting: OpenState[] = []
    const stateOf = (vertices: readonly number[]): ContentState => {
      const key = vertices.join()
      const known = states.get(key)
      if (known !== undefined) return known
      const state = { vertices, isEnd: vertices.includes(this.end), next: new Map() }
      states.set(key, state)
      waiting.push(state)
      return state
    }
    const first = stateOf(this.#closure([this.start]))
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      for (const [name, reached] of this.#targets(state.vertices))
        state.next.set(name, stateOf(this.#closure([...reached])))
    }
    return first
  }

  /** Returns the vertices that each node name leads to. */
  #targets(vertices: readonly number[]): ReadonlyMap<string, ReadonlySet<number>> {
    const targets = new Map<string, Set<number>>()
    for (const vertex of vertices) {
      for (const { name, to } of this.#edges[vertex] ?? []) {
        this.#budget.take()
        if (name === null) continue
        memoized(targets, name, () => new Set<number>()).add(to)
      }
    }
    return targets
  }

  /** Returns the vertices that can be reached without a node, in ascending order. */
  #closure(from: readonly number[]): readonly number[] {
    const reached = new Set(from)
    for (const vertex of reached) {
      for (const { name, to } of this.#edges[vertex] ?? []) {
        this.#budget.take()
        if (name === null) reached.add(to)
      }
    }
    return [...reached].sort((a, b) => a - b)
  }
}

/** Returns whether the children in a state are inline, as ProseMirror decides it: by the first possible node. */
export const isInlineContent = ({ next }: ContentState, isInline: (name: string) => boolean): boolean => {
  for (const name of next.keys()) return name === textNode || isInline(name)
  return false
}
