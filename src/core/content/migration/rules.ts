import { invalid } from '../../base/errors.ts'

/** The members of each rule, in addition to its name and to the value of a default. */
const membersOf = {
  renameNode: ['to'],
  renameMark: ['to'],
  renameAttribute: ['node', 'to'],
  setDefault: ['node'],
  wrapNode: ['to'],
  dropNode: [],
  dropMark: [],
  dropAttribute: ['node'],
} as const satisfies Record<string, readonly ('node' | 'to')[]>

type RuleKind = keyof typeof membersOf
export const migrationRules = Object.keys(membersOf) as readonly RuleKind[]

/** A rule of a migration. */
export interface MigrationRule {
  readonly rule: RuleKind
  /** Name of the node, the mark or the attribute. */
  readonly name: string
  /** The node with the attribute, by its new name; only in rules about attributes. */
  readonly node?: string
  /** The new name, or the node that wraps; only in rules that rename or wrap. */
  readonly to?: string
  /** The default of an attribute. */
  readonly value?: unknown
}

export type Attributes = ReadonlyMap<string, unknown>

/**
 * The rules of a migration. A second migration by the same rules changes nothing, because no rule applies to a name that
 * another one produces. So a migration that was interrupted can run again.
 */
export class MigrationPlan {
  /** New names, names of wrappers, and names that are dropped. The names start with their kind, as in `node heading`. */
  readonly renamed = new Map<string, string>()
  readonly wrappers = new Map<string, string>()
  readonly dropped = new Set<string>()
  readonly changesMarks: boolean
  readonly #rules: readonly MigrationRule[]

  /** @throws ApiError INVALID_ARGUMENT if a rule has the wrong members, or if rules contradict each other */
  constructor(rules: readonly MigrationRule[]) {
    this.#rules = rules
    this.changesMarks = rules.some(({ rule }) => rule.endsWith('Mark'))
    const produced = new Map<string, number>()
    const consumed = new Set<string>()
    for (const [at, { rule, name, node, to }] of rules.entries()) {
      const given = [...(node === undefined ? [] : ['node']), ...(to === undefined ? [] : ['to'])]
      if (given.join() !== membersOf[rule].join())
        throw invalidRule(at, `expected the members ${['rule', 'name', ...membersOf[rule]].join(', ')}`)
      const kind = node !== undefined ? `attribute of ${node}` : rule.endsWith('Mark') ? 'mark' : 'node'
      const named = `${kind} ${name}`
      // A node is not wrapped again, because its parent then has the name of the wrapper.
      const source = rule === 'wrapNode' ? `wrapped ${named}` : named
      if (consumed.has(source)) throw invalidRule(at, 'another rule applies to the same name')
      if (rule === 'setDefault') produced.set(named, at)
      else consumed.add(source)
      if (to !== undefined) produced.set(`${kind} ${to}`, at)
      if (rule === 'wrapNode') produced.set(`wrapped node ${to}`, at)
      if (rule.startsWith('drop')) this.dropped.add(named)
      else if (to !== undefined) (rule === 'wrapNode' ? this.wrappers : this.renamed).set(named, to)
    }
    for (const [named, at] of produced)
      if (consumed.has(named)) throw invalidRule(at, 'another rule applies to its result; use two versions')
  }

  /** Returns the attributes of a node after the migration. @param node its new name */
  attributesOf(node: string, before: Attributes): Attributes {
    const values = new Map(before)
    for (const { rule, name, to, value } of this.#rules.filter((each) => each.node === node)) {
      if (rule === 'setDefault') values.set(name, values.get(name) ?? value ?? null)
      else {
        if (to !== undefined && values.has(name) && !values.has(to)) values.set(to, values.get(name))
        values.delete(name)
      }
    }
    return values
  }
}

const invalidRule = (at: number, problem: string): Error =>
  invalid('schema/invalid-migration', `invalid rule at rules[${at}]: ${problem}`, { path: `/rules/${at}` })
