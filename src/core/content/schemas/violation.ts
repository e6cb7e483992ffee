import { shortened } from '../../base/text.ts'
import type { RulesByAttribute } from './compiled-schema.ts'

/** A place at which content does not match a schema. */
export interface Violation {
  /** The place, such as `/doc/bulletList[0]/paragraph[1]`. The index counts all children of the parent. */
  readonly path: string
  readonly problem: string
  /** Names or types that are allowed there instead; at most 50. */
  readonly allowed: readonly string[]
}

/** A violation, and a key that stays the same while other content changes: the items that break the schema. */
export interface FoundViolation extends Violation {
  readonly key: string
}

/** The place of a node. Each node links to its parent, so that a path is built only for a violation. */
export interface NodePlace {
  readonly parent: NodePlace | null
  readonly name: string
  /** Index among the children of the parent. */
  readonly index: number
}

const allowedMax = 50
const nameLengthMax = 100

/** Creates a violation at a node, or at one of its attributes. */
export const violationAt = (
  place: NodePlace,
  problem: string,
  allowed: Iterable<string>,
  attribute?: string,
): Violation => ({
  path: pathOf(place) + (attribute === undefined ? '' : `/@${shortened(attribute, nameLengthMax)}`),
  problem,
  allowed: firstOf(allowed),
})

/** Returns a name from the content in quotes, for a message. */
export const quoted = (name: string): string => JSON.stringify(shortened(name, nameLengthMax))

/** The last part of a path names at most this many nodes, which keeps messages short. */
const partsMax = 40

function pathOf(place: NodePlace): string {
  const parts: string[] = []
  for (let at: NodePlace | null = place; at !== null; at = at.parent)
    parts.push(at.parent === null ? at.name : `${shortened(at.name, nameLengthMax)}[${at.index}]`)
  parts.reverse()
  const shown = parts.length <= partsMax ? parts : [parts[0], '…', ...parts.slice(-partsMax)]
  return `/${shown.join('/')}`
}

function firstOf(names: Iterable<string>): readonly string[] {
  const first: string[] = []
  for (const name of names) {
    if (first.length === allowedMax) break
    first.push(name)
  }
  return first
}

/** Returns the name of the JSON type of a stored value. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

/**
 * Finds the attributes of a node or a mark that its rules do not allow, and those that it lacks.
 * @param key names the node or mark in the keys of the violations
 * @param owner the node or mark, as a message names it
 * @param values the attributes; a node counts an attribute that is null as absent
 */
export function* attributeViolations(
  place: NodePlace,
  key: string,
  owner: string,
  rules: RulesByAttribute,
  values: Iterable<readonly [string, unknown]>,
  nullIsAbsent: boolean,
): Generator<FoundViolation, void> {
  const found = (name: string, problem: string, allowed: Iterable<string>): FoundViolation => ({
    key: `${key} ${problem}`,
    ...violationAt(place, problem, allowed, name),
  })
  const present = new Set<string>()
  for (const [name, value] of values) {
    if (value === undefined || (value === null && nullIsAbsent)) continue
    present.add(name)
    const rule = rules.get(name)
    const type = typeName(value)
    if (rule === undefined) yield found(name, `${owner} has no attribute ${quoted(name)}`, rules.keys())
    else if (rule.types !== null && !rule.types.has(type))
      yield found(name, `attribute ${quoted(name)} of ${owner} has the type ${type}`, rule.types)
  }
  for (const [name, { isRequired }] of rules)
    if (isRequired && !present.has(name))
      yield found(name, `${owner} needs the attribute ${quoted(name)}`, [name])
}
