import type { FromSchema } from '../../../core/base/schema.ts'
import { editSchema } from '../../../rest/schemas/edit-target-schema.ts'
import { mcpLimits } from '../mcp-limits.ts'

/** Returns a schema without descriptions: they would repeat that of a target for each edit. */
const brief = <S>(schema: S): S =>
  JSON.parse(
    JSON.stringify(schema, (name, value: unknown) =>
      name === 'description' && typeof value === 'string' ? undefined : value,
    ),
  ) as S

/** Edits of `/v2/crdt/edit`. */
export const editsInput = {
  type: 'array',
  minItems: 1,
  maxItems: mcpLimits.edits,
  description:
    'Edits of `/v2/crdt/edit`: all are applied, or none. A later edit finds the content as earlier edits left it. Examples: ' +
    '{"replace":{"find":"old text","with":"new **text**"}}, {"insert":{"into":{"heading":"Risks"},"content":"- new item"}}, ' +
    '{"insert":{"at":"end","content":"Text."}}, {"remove":{"target":{"quote":"old","before":"the "}}}. A target is a quote ' +
    '(exact text without Markdown signs, within one paragraph, that occurs once: else add `before`, `after` or ' +
    '`occurrence`), or `heading`, `row`, `block`, `attribute`, `path`. `into` and `after` a `heading` mean its section; ' +
    '`remove` and `replace` mean the heading alone. Without `format`, content is Markdown in rich text.',
  items: brief(editSchema),
} as const

export type GivenEdit = FromSchema<typeof editsInput>[number]
