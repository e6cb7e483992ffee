/** The parts of a ProseMirror schema from which its JSON is made. Several versions of the library have them. */
interface EditorSchema {
  readonly spec: { readonly topNode?: string | undefined; readonly nodes: Specs; readonly marks: Specs }
}

interface Specs {
  forEach(each: (name: string, spec: Readonly<Record<string, unknown>>) => void): void
}

/** Returns the schema of an editor in the form that `checkSchema` accepts. */
export function schemaJson({ spec }: EditorSchema): {
  nodes: Record<string, object>
  marks: Record<string, object>
  topNode?: string
} {
  const nodes: Record<string, object> = {}
  const marks: Record<string, object> = {}
  spec.nodes.forEach((name, node) => {
    nodes[name] = membersOf(node, ['content', 'marks', 'group', 'inline'])
  })
  spec.marks.forEach((name, mark) => {
    marks[name] = membersOf(mark, ['excludes', 'group'])
  })
  return { nodes, marks, ...(spec.topNode !== undefined && { topNode: spec.topNode }) }
}

function membersOf(spec: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  const members: Record<string, unknown> = {}
  for (const name of names) if (spec[name] !== undefined) members[name] = spec[name]
  const attributes = Object.entries((spec.attrs ?? {}) as Record<string, Record<string, unknown>>)
  if (attributes.length > 0)
    members.attributes = Object.fromEntries(
      attributes.map(([name, attribute]) => [name, attributeOf(attribute)]),
    )
  return members
}

function attributeOf(attribute: Readonly<Record<string, unknown>>): object {
  const type = typeof attribute.validate === 'string' ? { type: attribute.validate } : {}
  return Object.hasOwn(attribute, 'default') ? { default: attribute.default ?? null, ...type } : type
}
