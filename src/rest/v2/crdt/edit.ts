import { invalid } from '../../../core/base/errors.ts'
import { type FromSchema, json } from '../../../core/base/schema.ts'
import { rightForm } from '../../../core/content/edit/right-form.ts'
import { keepingOf } from '../../agents/authorize-agent.ts'
import {
  baseVersionErrors,
  changeEditor,
  unsupportedContent,
  updateRequest,
  writeErrors,
  writtenResponse,
} from '../../editor-content.ts'
import { defineAgentOperation, warningsOf } from '../../operation.ts'
import { contentErrors } from '../../schemas/content-format.ts'
import { editSchema, editsMax } from '../../schemas/edit-target-schema.ts'
import { contentKeySchema, documentPlace, editorId } from '../../schemas/resource-schema.ts'

const request = json.object(
  {
    ...documentPlace,
    editorId,
    edits: json.list(editSchema, {
      minItems: 1,
      maxItems: editsMax,
      description: 'Applied in order; later edits find the content as earlier edits left it.',
      examples: [[{ replace: { find: 'Hello', with: 'Hello, team' } }]],
    }),
  },
  {
    contentKey: contentKeySchema,
    baseVersion: {
      ...updateRequest.properties.baseVersion,
      description: 'The version in which the targets are found. Later edits of others stay.',
    },
    onOverlap: updateRequest.properties.onOverlap,
    ifVersion: updateRequest.properties.ifVersion,
    dryRun: updateRequest.properties.dryRun,
    schema: updateRequest.properties.schema,
    strict: updateRequest.properties.strict,
    userId: updateRequest.properties.userId,
    meta: updateRequest.properties.meta,
  },
)

const response = {
  type: 'object',
  required: [...writtenResponse.required, 'contentKey', 'edits'],
  properties: {
    ...writtenResponse.properties,
    changed: json.boolean('False if the document was already as requested.'),
    edits: json.list(
      json.object({
        place: json.object(
          {},
          {
            quote: json.text('The start of the matched text.'),
            before: json.text('Text before it in its block.'),
            after: json.text('Text after it in its block.'),
            attributes: json.object(
              {},
              {},
              {
                additionalProperties: {},
                description: 'Attributes of the block or node, without large ones.',
              },
            ),
            path: json.text('JSON pointer, in a map or an array.'),
          },
          { description: 'The place that matched, before the edit.' },
        ),
        changed: json.boolean(),
        insertions: json.integer(),
        deletions: json.integer(),
      }),
      { description: 'One result for each edit, in the same order.' },
    ),
  },
} as const

/**
 * Returns the root that the request or its anchors name; undefined if they name none.
 * @throws ApiError INVALID_ARGUMENT if an anchor names another editor or root
 */
function addressedRoot({ editorId, contentKey, edits }: FromSchema<typeof request>): string | undefined {
  let root = contentKey
  for (const [index, { replace, insert, remove, mark, attributes }] of edits.entries()) {
    const targets = [replace?.find, insert?.before, insert?.after, insert?.into, remove?.target, mark?.find]
    for (const target of [...targets, attributes?.target]) {
      const { anchor } = typeof target === 'object' ? target : {}
      if (anchor?.editorId !== undefined && anchor.editorId !== editorId)
        throw invalid(
          'crdt/invalid-edit',
          `edits[${index}]: the anchor is in the editor "${anchor.editorId}"; edit that editor`,
        )
      if (anchor?.contentKey === undefined) continue
      root ??= anchor.contentKey
      if (root !== anchor.contentKey)
        throw invalid(
          'crdt/invalid-edit',
          `edits[${index}]: the anchor is in the root "${anchor.contentKey}", not in "${root}"; edit one root in each call`,
        )
    }
  }
  return root
}

export const editContent = defineAgentOperation({
  path: '/v2/crdt/edit',
  agents: { role: 'editor', ids: ['userId'], meta: 'meta', without: ['schema'] },
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'content',
  warns: true,
  creates: true,
  summary: 'Edit parts of the content',
  description:
    'Changes only the parts that the edits name, and keeps all other content with its cursors and formatting. The ' +
    'server applies all edits or none, as one update. It never guesses: if a target is missing or occurs several ' +
    'times, the call fails, and the error has similar places.',
  request,
  unknownHint: rightForm,
  response,
  errors: [
    ...contentErrors,
    { code: 'crdt/target-not-found', when: 'a target is missing' },
    { code: 'crdt/target-ambiguous', when: 'a target is ambiguous' },
    { code: 'crdt/patch-failed', when: 'a patch fails' },
    ...writeErrors,
    unsupportedContent,
    ...baseVersionErrors,
  ],
  async handler(data, { caller, services, full }) {
    const { edits, baseVersion, ifVersion, dryRun } = data
    const onOverlap = data.onOverlap ?? (caller.level === 'key' ? 'report' : 'fail')
    const contentKey = addressedRoot(data)
    const options = {
      expects: 'content',
      baseVersion,
      onOverlap,
      ifVersion,
      dryRun,
      full,
      keeping: keepingOf(caller),
    } as const
    const change = { contentKey, edits, merged: baseVersion !== undefined }
    const changed = await changeEditor(data, change, 'edits', options, caller, services)
    const {
      kind: _kind,
      dependencies: _dependencies,
      contentKey: edited = '',
      edits: outcomes = [],
      warnings = [],
      created,
      ...written
    } = changed
    return {
      message: 'Content edited.',
      data: { ...written, contentKey: edited, edits: outcomes },
      created,
      ...warningsOf(warnings),
    }
  },
})
