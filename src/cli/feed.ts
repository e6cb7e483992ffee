import { Command, Option } from 'commander'
import { feedLimits } from '../capabilities/feed/limits.ts'
import { callOnline } from '../capabilities/transfer/documents/rest-client.ts'
import * as s from '../core/base/schema.ts'
import { escapeControls } from '../core/base/text.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { printWithBackpressure } from './command-line/command-io.ts'
import { requireServer, type ServerFlags, withServerFlags } from './location/location.ts'

interface Flags extends ServerFlags {
  readonly cursor?: string
  readonly from?: 'oldest' | 'now'
  readonly types?: readonly string[]
  readonly organization?: string
  readonly documents?: readonly string[]
  readonly content?: string
  readonly follow: boolean
  readonly json?: true
}

const pageSchema = s.object({
  events: s.array(
    s.object({
      cursor: s.string,
      type: s.string,
      at: s.string,
      organizationId: s.string,
      documentId: s.orNull(s.string),
      actionUser: s.object({ userId: s.string }),
    }),
  ),
  cursor: s.string,
  isEnd: s.boolean,
})

/**
 * Creates the command `weft feed`, which prints the events of the change feed of a running server, one line for each;
 * with `--json`, one line of JSON. Each line has the cursor with which another run continues after it.
 */
export const feedCommand = (): Command =>
  withServerFlags(new Command('feed'))
    .description('Print the events of the change feed of a running server.')
    .option('--cursor <cursor>', 'Only events after this cursor, which is in each printed event.')
    .addOption(
      new Option('--from <start>', 'Start without a cursor: the oldest event, or the next one.')
        .choices(['oldest', 'now'])
        .default('oldest'),
    )
    .option('--types <type...>', 'Only events of these types, such as crdt.update_data.')
    .option('--organization <id>', 'Only events of this organization.')
    .option('--documents <id...>', 'Only events of these documents.')
    .option('--content <format>', 'Add the content of changes: changes, text, markdown, html, json, …')
    .option('--json', 'Print JSON, with the data and the content of each event.')
    .option('--no-follow', 'End after the last event, instead of waiting for the next one.')
    .action(async (flags: Flags) => {
      const server = await requireServer(flags)
      const { types, organization, documents, content, follow, json } = flags
      if (flags.cursor !== undefined && flags.from !== 'oldest')
        throw new ConfigError(`--from ${flags.from} cannot be used with --cursor`)
      const selection = {
        ...(types !== undefined && { types }),
        ...(organization !== undefined && { organizationId: organization }),
        ...(documents !== undefined && { documentIds: documents }),
        ...(content !== undefined && { content }),
        ...(follow && { waitSeconds: feedLimits.waitSeconds }),
      }
      let start: object = flags.cursor === undefined ? { from: flags.from } : { cursor: flags.cursor }
      for (;;) {
        const { data } = await callOnline(server, '/v2/feed/get', { ...selection, ...start }, pageSchema)
        for (const event of data.events)
          await printWithBackpressure(json ? JSON.stringify(event) : asText(event))
        if (data.isEnd && !follow) return
        start = { cursor: data.cursor }
      }
    })

function asText(event: s.TypeOf<typeof pageSchema>['events'][number]): string {
  const { at, type, organizationId, documentId, actionUser, cursor } = event
  const place = documentId === null ? organizationId : `${organizationId}/${documentId}`
  return [at, type, place, actionUser.userId, cursor].map(escapeControls).join('  ')
}
