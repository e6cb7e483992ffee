// Prints the schema of the editor as JSON for `/v2/crdt/schemas/set`. Use the extensions of your own editor. For
// ProseMirror, pass your schema to `schemaJson`, with the `contentKey` `prosemirror`. For BlockNote, pass
// `BlockNoteEditor.create().pmSchema`, with the `contentKey` `document-store`.
import { getSchema } from '@tiptap/core'
import { StarterKit } from '@tiptap/starter-kit'

/**
 * @param schema a ProseMirror schema: `getSchema(extensions)` of Tiptap, `editor.pmSchema` of BlockNote
 * @param contentKey the name of the root in which the editor keeps its content
 * @returns the schema in the form that Weft stores
 */
export function schemaJson({ spec }, contentKey) {
  const schema = { nodes: {}, marks: {}, contentKey }
  spec.nodes.forEach((name, node) => {
    schema.nodes[name] = membersOf(node, ['content', 'marks', 'group', 'inline'])
  })
  spec.marks.forEach((name, mark) => {
    schema.marks[name] = membersOf(mark, ['excludes', 'group'])
  })
  return spec.topNode === undefined ? schema : { ...schema, topNode: spec.topNode }
}

function membersOf(spec, names) {
  const members = Object.fromEntries(
    names.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]),
  )
  const attributes = Object.entries(spec.attrs ?? {})
  if (attributes.length === 0) return members
  return {
    ...members,
    attributes: Object.fromEntries(attributes.map(([name, attribute]) => [name, attributeOf(attribute)])),
  }
}

/** An attribute with a default of undefined may be absent, which JSON expresses as null. */
function attributeOf(attribute) {
  const type = typeof attribute.validate === 'string' ? { type: attribute.validate } : {}
  return Object.hasOwn(attribute, 'default') ? { default: attribute.default ?? null, ...type } : type
}

if (process.argv[1] === import.meta.filename)
  console.log(JSON.stringify(schemaJson(getSchema([StarterKit]), 'default'), null, 2))
