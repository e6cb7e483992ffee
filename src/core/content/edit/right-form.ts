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
 * Returns the form that an edit with an unknown member must have; null if the member is not in an edit.
 * @param data the data of a request, with the member `edits`
 * @param path JSON pointer of the unknown member, such as `/data/edits/0/replace/old`
 */
export function rightForm(data: object, path: string): string | null {
  const [, index, name = ''] = /^\/data\/edits\/(\d+)\/([^/]+)/.exec(path) ?? []
  const edits: unknown = Reflect.get(data, 'edits')
  const edit: unknown = Array.isArray(edits) ? edits[Number(index)] : null
  if (typeof edit !== 'object' || edit === null) return null
  return `edits[${index}] must have a form such as ${examples[isEditName(name) ? name : meant(edit)]}`
}

const isEditName = (name: string): name is EditName => Object.hasOwn(examples, name)

/** Returns an example of the edit with a name. */
export const editExample = (name: EditName): string => examples[name]

function meant(edit: object): EditName {
  const unknown = Object.keys(edit).filter((name) => !isEditName(name))
  const stated = kindMembers
    .map((name): unknown => Reflect.get(edit, name))
    .filter((value) => typeof value === 'string')
  const naming = [...stated, ...unknown].join(' ')
  return words.find(([word]) => word.test(naming))?.[1] ?? 'replace'
}
