import type { RulesByAttribute } from './compiled-schema.ts'
import { type FoundViolation, type NodePlace, quoted, violationAt } from './violation.ts'

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
