import { type FromSchema, json } from '../../../core/base/schema.ts'
import { type OverlapPolicy, overlapPolicies } from '../../../core/content/merge/overlap.ts'
import { editSchema } from '../../../rest/schemas/edit-target-schema.ts'
import { editContent } from '../../../rest/v2/crdt/edit.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { defineTool, showAllHidden, type ToolContext } from '../tool.ts'
import { editorIdMembers, editorMembers, type FoundEditor, findEditor } from './editor-address.ts'

/** Returns a schema without descriptions: they would repeat that of a target for each edit. */
const brief = <S>(schema: S): S =>
  JSON.parse(
    JSON.stringify(schema, (name, value: unknown) =>
      name === 'description' && typeof value === 'string' ? undefined : value,
    ),
  ) as S

/** Edits of `/v2/crdt/edit`. */
const editsInput = json.list(brief(editSchema), {
  minItems: 1,
  maxItems: mcpLimits.edits,
  description:
    'Edits of `/v2/crdt/edit`: all are applied, or none. A later edit finds the content as earlier edits left it. Examples: ' +
    '{"replace":{"find":"old text","with":"new **text**"}}, {"insert":{"into":{"heading":"Risks"},"content":"- new item"}}, ' +
    '{"insert":{"at":"end","content":"Text."}}, {"remove":{"target":{"quote":"old","before":"the "}}}. A target is a quote ' +
    '(exact text without Markdown signs, within one paragraph, that occurs once: else add `before`, `after` or ' +
    '`occurrence`), or `heading`, `row`, `block`, `attribute`, `path`. `into` and `after` a `heading` mean its section; ' +
    '`remove` and `replace` mean the heading alone. Without `format`, content is Markdown in rich text.',
})

type GivenEdit = FromSchema<typeof editsInput>[number]

const version = { type: 'string', maxLength: 200 } as const

/** Members of the arguments of tools that edit. */
export const editingMembers = {
  ...editorMembers,
  edits: editsInput,
  baseVersion: {
    ...version,
    description:
      'The version that you have read. The places are found in it, and later changes of others stay. Recommended.',
  },
  onOverlap: json.choice(
    overlapPolicies,
    'The outcome if others have changed the same words or values after `baseVersion`: the call fails, or the content has ' +
      'one side. `report` keeps theirs.',
    { default: 'fail' },
  ),
  ifVersion: { ...version, description: 'Fail unless the document is still at this version.' },
} as const

export const editedMembers = {
  version: json.text('The version after the edits.'),
  changed: json.boolean('False if the document was already as requested.'),
  warnings: json.list(json.text()),
} as const

export const placesMember = json.list(
  json.object(
    { changed: json.boolean(), insertions: json.integer(), deletions: json.integer() },
    { quote: json.text(), before: json.text(), after: json.text() },
  ),
  { description: 'One for each edit: the text that matched, before the edit.' },
)

export const overlapsMember = json.list(
  json.object({ path: json.text(), kept: json.text() }, { base: {}, theirs: {}, mine: {} }),
  { description: 'Places that others have also changed.' },
)

interface EditArguments {
  readonly edits: readonly GivenEdit[]
  readonly baseVersion: string | undefined
  readonly onOverlap: OverlapPolicy | undefined
  readonly ifVersion: string | undefined
  readonly dryRun?: boolean | undefined
}

/** The outcome of edits, with hidden characters shown. */
interface SentEdits {
  readonly version: string
  readonly changed: boolean
  readonly warnings: readonly string[]
  readonly documentData: {
    readonly places: FromSchema<typeof placesMember>
    readonly overlaps?: FromSchema<typeof overlapsMember>
  }
}

/** Applies edits to an editor. @throws ApiError */
export async function sendEdits(
  { ids, root }: FoundEditor,
  edits: EditArguments,
  { api }: ToolContext,
): Promise<SentEdits> {
  const { data, warnings } = await api.call(editContent, { ...ids, ...root, ...edits })
  const places = data.edits.map(({ place: { quote, before, after }, changed, insertions, deletions }) => ({
    quote,
    before,
    after,
    changed,
    insertions,
    deletions,
  }))
  return {
    version: data.version,
    changed: data.changed,
    warnings,
    documentData: showAllHidden({
      places,
      ...(data.overlaps !== undefined && { overlaps: data.overlaps }),
    }) as SentEdits['documentData'],
  }
}

export const editDocumentTool = defineTool({
  name: 'edit_document',
  title: 'Edit a document',
  description:
    'Changes parts of a document at once, and keeps everything else with the cursors of its users. The server never guesses: ' +
    'if a quote or a heading is missing or occurs several times, nothing changes, and the error has similar places. ' +
    'Users see the change as yours, and can undo it.',
  role: 'editor',
  effect: 'changes',
  input: {
    type: 'object',
    required: ['documentId', 'edits'],
    properties: {
      ...editingMembers,
      dryRun: json.flag('True: only check the edits, and change nothing.'),
    },
  },
  result: json.object(editedMembers),
  documentData: json.object({ ...editorIdMembers, places: placesMember }, { overlaps: overlapsMember }),
  async handler({ edits, baseVersion, onOverlap, ifVersion, dryRun, ...given }, context) {
    const found = await findEditor(given, context)
    const sent = { edits, baseVersion, onOverlap, ifVersion, dryRun }
    const { documentData, ...result } = await sendEdits(found, sent, context)
    return { result, documentData: { ...found.ids, ...documentData } }
  },
})
