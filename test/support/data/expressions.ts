import { readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'
import { check } from 'recheck'

/** A regular expression in a source file. `source` is null if the code composes it at run time. */
export interface Expression {
  /** Path and line number, such as `src/core/model/base64.ts:4`. */
  readonly place: string
  readonly source: string | null
  readonly flags: string
}

/**
 * Returns all regular expressions of a TypeScript file: literals, calls of `RegExp`, and the `pattern` of
 * JSON schemas.
 */
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
      // The flag is `u`, because JSON schemas compile their patterns with it.
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
 * Options of the check. If the check has no verdict after `timeout` ms, the expression counts as
 * super-linear. On an idle machine, a check takes at most 3 s. The attacks have limits of steps, but no
 * limits of time. Otherwise, an attack that runs out of time on a busy machine would count as successful.
 */
const checkOptions = { timeout: 100_000, incubationTimeout: null, attackTimeout: null }

/**
 * Returns why the time of an expression may be super-linear. Returns null if its time is linear in the length
 * of the text.
 */
export async function costProblem({ source, flags }: Expression): Promise<string | null> {
  if (source === null) return 'code composes it at run time'
  const verdict = await check(source, flags, checkOptions)
  if (verdict.status === 'safe') return null
  return verdict.status === 'vulnerable' ? verdict.complexity.summary : 'no verdict'
}
