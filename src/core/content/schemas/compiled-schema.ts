import { invalid } from '../../base/errors.ts'
import { escapePointer } from '../../base/json.ts'
import { addTo } from '../../base/maps.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { KnownKind } from '../yjs/root-kind.ts'
import {
  ContentExpressionError,
  type ContentState,
  compileExpression,
  isInlineContent,
  noNodes,
  StepBudget,
} from './content-expression.ts'
import {
  defaultTopNode,
  type MarkSpec,
  type NodeSpec,
  type SchemaSpec,
  type SpecsByAttribute,
} from './schema-spec.ts'

type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'

export const jsonTypes: readonly JsonType[] = ['string', 'number', 'boolean', 'null', 'object', 'array']

export interface AttributeRule {
  /** Whether the attribute has no default. */
  readonly isRequired: boolean
  /** Null: every type. */
  readonly types: ReadonlySet<string> | null
  /** The default; null if the attribute has none. */
  readonly initial: Json
}

export type RulesByAttribute = ReadonlyMap<string, AttributeRule>

export interface NodeRule {
  readonly content: ContentState
  readonly attributes: RulesByAttribute
  /** Names of the marks that text in the node may have. */
  readonly marks: ReadonlySet<string>
}

interface MarkRule {
  readonly attributes: RulesByAttribute
  /** Names of the other marks that cannot be on the same text. */
  readonly excludes: ReadonlySet<string>
  /** Whether several marks with this name can be on the same text. */
  readonly overlaps: boolean
}

/** A schema of nodes and marks that content can be compared with. */
export interface CompiledSchema {
  readonly is: 'nodes'
  readonly topNode: string
  readonly contentKey: string | null
  readonly nodes: ReadonlyMap<string, NodeRule>
  readonly marks: ReadonlyMap<string, MarkRule>
}

/** Names of the JSON types of each format and embed. */
export type AllowedTypes = ReadonlyMap<string, ReadonlySet<string>>

/** A schema of text with formatting, such as the deltas of Quill. */
export interface TextSchema {
  readonly is: 'text'
  readonly contentKey: string | null
  readonly formats: AllowedTypes
  /** Embeds by the name of their only member. */
  readonly embeds: AllowedTypes
}

/** A schema of nested shared texts, as Lexical and Slate store them. */
export interface XmlTextSchema {
  readonly is: 'xmltext'
  readonly contentKey: string | null
  readonly topNode: string
  /** Attribute that contains the type of a node. */
  readonly typeAttribute: string
  /** Types of nodes that are texts; null: every type, and no type. */
  readonly texts: ReadonlySet<string> | null
  /** Types of nodes that are maps. */
  readonly maps: ReadonlySet<string>
  /** Types of nodes that are elements. */
  readonly elements: ReadonlySet<string>
}

/** A schema of the content of a root. */
export type ContentSchema = CompiledSchema | TextSchema | XmlTextSchema

const kinds: Readonly<Record<ContentSchema['is'], KnownKind>> = {
  nodes: 'xml',
  text: 'text',
  xmltext: 'xmltext',
}

/** Returns the kind of a root that a schema describes. */
export const kindOfSchema = ({ is }: ContentSchema): KnownKind => kinds[is]

/** Returns a schema if it is one for XML, otherwise null. */
export const nodeSchema = (schema: ContentSchema | null): CompiledSchema | null =>
  schema?.is === 'nodes' ? schema : null

/**
 * Compiles a schema. The cost is limited for every schema within the limits of `checkSchema`.
 * @throws ApiError INVALID_ARGUMENT with the JSON pointer of the problem
 */
export function compileSchema(spec: SchemaSpec): CompiledSchema {
  const nodeSpecs = new Map<string, NodeSpec>(Object.entries(spec.nodes))
  const markSpecs = new Map<string, MarkSpec>(Object.entries(spec.marks ?? {}))
  const topNode = spec.topNode ?? defaultTopNode
  if (!nodeSpecs.has(topNode))
    throw schemaProblem(
      '/topNode',
      `nodes has no "${topNode}", which is the top node; add it, or set topNode`,
    )
  const nodeGroups = groupsOf(nodeSpecs)
  const markGroups = groupsOf(markSpecs)
  const allMarks = [...markSpecs.keys()]
  const budget = new StepBudget()
  const nodes = new Map<string, NodeRule>()
  for (const [name, node] of nodeSpecs) {
    const content = contentOf(
      node,
      `/nodes/${escapePointer(name)}/content`,
      (word) => namedBy(word, nodeSpecs, nodeGroups),
      budget,
    )
    const isInline = isInlineContent(content, (child) => nodeSpecs.get(child)?.inline === true)
    const marks =
      node.marks === undefined
        ? isInline
          ? allMarks
          : []
        : listed(node.marks, `/nodes/${escapePointer(name)}/marks`, markSpecs, markGroups, budget)
    nodes.set(name, { content, marks: new Set(marks), attributes: rulesOf(node.attributes) })
  }
  const marks = new Map<string, MarkRule>()
  for (const [name, { excludes, attributes }] of markSpecs) {
    const excluded =
      excludes === undefined
        ? []
        : listed(excludes, `/marks/${escapePointer(name)}/excludes`, markSpecs, markGroups, budget)
    marks.set(name, {
      attributes: rulesOf(attributes),
      excludes: new Set(excluded.filter((other) => other !== name)),
      overlaps: excludes !== undefined && !excluded.includes(name),
    })
  }
  return { is: 'nodes', topNode, contentKey: spec.contentKey ?? null, nodes, marks }
}

/** Returns the error for an invalid schema. `path` is a JSON pointer in the schema. */
export const schemaProblem = (path: string, problem: string): Error =>
  invalid('schema/invalid', `invalid schema at ${path === '' ? 'its top' : path}: ${problem}`, { path })

function contentOf(
  { content }: NodeSpec,
  path: string,
  namesOf: (name: string) => readonly string[],
  budget: StepBudget,
): ContentState {
  if (content === undefined) return noNodes
  try {
    return compileExpression(content, namesOf, budget)
  } catch (error) {
    if (!(error instanceof ContentExpressionError)) throw error
    throw schemaProblem(path, error.message)
  }
}

type NamesByGroup = ReadonlyMap<string, readonly string[]>

/** Returns the names in each group. */
function groupsOf(specs: ReadonlyMap<string, { readonly group?: string }>): NamesByGroup {
  const groups = new Map<string, string[]>()
  for (const [name, { group }] of specs) {
    for (const word of new Set(wordsIn(group ?? ''))) {
      addTo(groups, word, name)
    }
  }
  return groups
}

const wordsIn = (list: string): string[] => list.split(/\s+/).filter((word) => word !== '')

const namedBy = (
  word: string,
  specs: ReadonlyMap<string, unknown>,
  groups: NamesByGroup,
): readonly string[] => (specs.has(word) ? [word] : (groups.get(word) ?? []))

/** Returns the marks that a list of names and groups stands for. */
function listed(
  list: string,
  path: string,
  specs: ReadonlyMap<string, MarkSpec>,
  groups: NamesByGroup,
  budget: StepBudget,
): readonly string[] {
  const names = new Set<string>()
  for (const word of wordsIn(list)) {
    const found = word === '_' ? [...specs.keys()] : namedBy(word, specs, groups)
    if (found.length === 0)
      throw schemaProblem(path, `"${word}" is not a mark or a group of marks; expected names from /marks`)
    try {
      budget.take(found.length)
    } catch (error) {
      if (!(error instanceof ContentExpressionError)) throw error
      throw schemaProblem(path, 'the lists of marks are too long; use fewer marks or groups')
    }
    for (const name of found) names.add(name)
  }
  return [...names]
}

function rulesOf(specs: SpecsByAttribute | undefined): RulesByAttribute {
  const rules = new Map<string, AttributeRule>()
  for (const [name, spec] of Object.entries(specs ?? {})) {
    const types = spec.type === undefined ? null : new Set(spec.type.split('|').map((type) => type.trim()))
    rules.set(name, { isRequired: !Object.hasOwn(spec, 'default'), types, initial: spec.default ?? null })
  }
  return rules
}

/** Returns the attributes of a mark that is stored with this value; null if the value cannot have any. */
export const markAttributes = (value: unknown): JsonObject | null => {
  if (value === true) return {}
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}
