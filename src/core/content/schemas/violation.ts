import { shortened } from '../../base/text.ts'

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
