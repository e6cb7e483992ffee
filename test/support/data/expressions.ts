import { readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'
import { check } from 'recheck'

/** A regular expression of a source file. `source` is null if code composes it at run time. */
export interface Expression {
  /** Path and line, as in `src/api/http/base64.ts:4`. */
  readonly place: string
  readonly source: string | null
  readonly flags: string
}

/** Returns every expression of TypeScript text: literals, `RegExp(…)`, and the `pattern` of JSON schemas. */
export function expressionsOf(file: string, text = readFileSync(file, 'utf8')): readonly Expression[] {
  const { program, errors } = parseSync(file, text)
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`)
  const found: Expression[] = []
  const add = (offset: number, source: string | null, flags: string): void => {
    found.push({ place: `${file}:${text.slice(0, offset).split('\n').length}`, source, flags })
  }
  const addComposed = ({ start, callee, arguments: given }: Call): void => {
    if (callee.name !== 'RegExp') return
    const [source, flags] = given.map(({ value }) => value)
    add(start, typeof source === 'string' ? source : null, typeof flags === 'string' ? flags : '')
  }
  new Visitor({
    Literal(node) {
      if ('regex' in node) add(node.start, node.regex.pattern, node.regex.flags)
    },
    NewExpression: (node) => addComposed(node as Call),
    CallExpression: (node) => addComposed(node as Call),
    Property({ key, value, start }) {
      const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? key.value : null
      // A JSON schema compiles its patterns with the flag `u`.
      if (name === 'pattern' && value.type === 'Literal' && typeof value.value === 'string')
        add(start, value.value, 'u')
    },
  }).visit(program)
  return found
}

interface Call {
  readonly start: number
  readonly callee: { readonly name?: string }
  readonly arguments: readonly { readonly value?: unknown }[]
}

/**
 * No verdict within `timeout` (ms) counts as super-linear. One takes 3 s at most on an idle machine. The attacks have limits
 * of steps, and none of time: on a busy machine, an attack that runs out of time would count as successful.
 */
const checkOptions = { timeout: 100_000, incubationTimeout: null, attackTimeout: null }

/** Returns why an expression may take super-linear time, or null if its time is linear in the length of the text. */
export async function costProblem({ source, flags }: Expression): Promise<string | null> {
  if (source === null) return 'code composes it at run time'
  const verdict = await check(source, flags, checkOptions)
  if (verdict.status === 'safe') return null
  return verdict.status === 'vulnerable' ? verdict.complexity.summary : 'no verdict'
}
