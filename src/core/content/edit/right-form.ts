/** An example of each edit, as JSON. */
const examples = {
  replace: '{ "replace": { "find": "old text", "with": "new text" } }',
  insert: '{ "insert": { "after": "a quote", "content": "new text" } }',
  remove: '{ "remove": { "target": "a quote" } }',
  mark: '{ "mark": { "find": "a quote", "name": "bold", "value": {} } }',
  attributes: '{ "attributes": { "target": { "heading": "Risks" }, "set": { "level": 2 } } }',
  patch: '{ "patch": [{ "op": "replace", "path": "/done", "value": true }] }',
  text: '{ "text": { "index": 0, "delete": 1, "insert": "A" } }',
} as const

type EditName = keyof typeof examples

/** Words of other edit languages, and the edit that they mean. */
const words: readonly (readonly [RegExp, EditName])[] = [
  [/insert|append|prepend|add/i, 'insert'],
  [/delet|remov/i, 'remove'],
  [/attribut/i, 'attributes'],
  [/patch/i, 'patch'],
  [/mark|format|bold/i, 'mark'],
  [/replac|change|update|set/i, 'replace'],
]

/** Members of other edit languages that name the kind of an edit. */
const kindMembers = ['action', 'type', 'op', 'kind', 'operation'] as const

/**
 * Returns the form that the first edit with an unknown member must have; null if there is none.
 * @param edits the member `edits` of a request
 */
export function rightForm(edits: unknown): string | null {
  if (!Array.isArray(edits)) return null
  for (const [index, edit] of edits.entries()) {
    if (typeof edit !== 'object' || edit === null) continue
    const unknown = Object.keys(edit).filter((name) => !Object.hasOwn(examples, name))
    if (unknown.length > 0)
      return `edits[${index}] must have a form such as ${examples[meant(edit, unknown)]}`
  }
  return null
}

/** Returns an example of the edit with a name. */
export const editExample = (name: EditName): string => examples[name]

function meant(edit: object, unknown: readonly string[]): EditName {
  const stated = kindMembers
    .map((name): unknown => Reflect.get(edit, name))
    .filter((value) => typeof value === 'string')
  const naming = [...stated, ...unknown].join(' ')
  return words.find(([word]) => word.test(naming))?.[1] ?? 'replace'
}
