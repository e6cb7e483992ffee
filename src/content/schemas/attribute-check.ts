import type { RulesByAttribute } from './compiled-schema.ts'
import { type NodePlace, quoted, type Violation, violationAt } from './violation.ts'

/** Returns the name of the JSON type of a stored value. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

/**
 * Checks the attributes of a node or a mark.
 * @param owner the node or mark, as a message names it
 * @param values the attributes; a node counts an attribute that is null as absent
 */
export function attributeViolation(
  place: NodePlace,
  owner: string,
  rules: RulesByAttribute,
  values: Iterable<readonly [string, unknown]>,
  nullIsAbsent: boolean,
): Violation | null {
  const present = new Set<string>()
  for (const [name, value] of values) {
    if (value === undefined || (value === null && nullIsAbsent)) continue
    const rule = rules.get(name)
    if (rule === undefined)
      return violationAt(place, `${owner} has no attribute ${quoted(name)}`, rules.keys(), name)
    const type = typeName(value)
    if (rule.types !== null && !rule.types.has(type))
      return violationAt(
        place,
        `attribute ${quoted(name)} of ${owner} has the type ${type}`,
        rule.types,
        name,
      )
    present.add(name)
  }
  for (const [name, { isRequired }] of rules) {
    if (isRequired && !present.has(name))
      return violationAt(place, `${owner} needs the attribute ${quoted(name)}`, [name], name)
  }
  return null
}
