import { Command, Option } from 'commander'
import { listOnline } from '../capabilities/transfer/documents/rest-client.ts'
import type { UsageRow } from '../capabilities/usage/api/usage-schema.ts'
import { type Granularity, granularities } from '../capabilities/usage/usage-reader.ts'
import { msPerDay } from '../capabilities/usage/usage-records.ts'
import { systemClock } from '../core/base/clock.ts'
import * as s from '../core/base/schema.ts'
import { escapeControls } from '../core/base/text.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { parseTimeOption, printRows, printWithBackpressure } from './command-line/command-io.ts'
import { requireWorkspace } from './location/location.ts'

interface Flags {
  readonly url?: string
  readonly dataDir?: string
  readonly workspace?: string
  readonly since?: number
  readonly until?: number
  readonly granularity: Granularity
  readonly by: 'workspace' | 'organization'
  readonly organization?: string
  readonly json?: true
}

export const usageCommand = (): Command =>
  new Command('usage')
    .description('Show the usage of a workspace and of its organizations, from a running server.')
    .option('--url <url>', 'URL of the running server (default: WEFT_URL).')
    .option('--workspace <id>', 'Workspace (default: WEFT_WORKSPACE_ID, else that of the data directory).')
    .option(
      '--data-dir <directory>',
      'Data directory of the server, for its credentials (default: WEFT_DATA_DIR, else ./data).',
    )
    .option(
      '--since <time>',
      'Start of the time: a date, or an age (30m, 24h, 7d; default: 24h).',
      parseTimeOption,
    )
    .option('--until <time>', 'End of the time (default: now).', parseTimeOption)
    .addOption(
      new Option('--granularity <unit>', 'Length of the time of a row, in UTC.')
        .choices(granularities)
        .default('hour'),
    )
    .addOption(
      new Option('--by <subject>', 'Subject of a row.')
        .choices(['workspace', 'organization'])
        .default('workspace'),
    )
    .option('--organization <id>', 'Only organizations with this id, of any API key.')
    .option('--json', 'Print one line of JSON for each row.')
    .addHelpText(
      'after',
      '\nThe token of the workspace is WEFT_WORKSPACE_AUTH_TOKEN, or that of the data directory.',
    )
    .action(async (flags: Flags) => {
      const server = await requireWorkspace(flags)
      const query = queryOf(flags)
      const items = listOnline(server, '/v2/workspace/usage/get', query, itemsSchema)
      const isByOrganization = query.by === 'organization'
      if (!flags.json) await printWithBackpressure(tableHeader(isByOrganization))
      await printRows(items, {
        line: flags.json ? null : (item) => tableRow(item, isByOrganization, flags.granularity),
        none: 'there was no usage in this time',
      })
    })

/** @throws ConfigError */
function queryOf({ since, until, granularity, by, organization }: Flags) {
  const from = since ?? systemClock.now() - msPerDay
  if (until !== undefined && until <= from)
    throw new ConfigError('the time of --until is not after that of --since', {
      hint: 'name an earlier --since (default: 24h), or leave out --until',
    })
  return {
    from,
    ...(until !== undefined && { to: until }),
    granularity,
    by: organization === undefined ? by : 'organization',
    ...(organization !== undefined && { organizationId: organization }),
  }
}

const itemsSchema = s.array(
  s.object(
    {
      start: s.number,
      connectionsOpened: s.number,
      connectionsPeak: s.number,
      connectionMinutes: s.number,
      updates: s.number,
      bytesSent: s.number,
      calls: s.number,
    },
    { apiKey: s.string, organizationId: s.string, bytesStored: s.number },
  ),
) satisfies s.SchemaOf<readonly UsageRow[]>

/** Titles and minimum widths of the columns of numbers. */
const columns = [
  ['connectionsOpened', 'opened', 8],
  ['connectionsPeak', 'peak', 7],
  ['connectionMinutes', 'minutes', 10],
  ['updates', 'updates', 10],
  ['calls', 'calls', 10],
  ['bytesSent', 'bytes sent', 15],
  ['bytesStored', 'bytes stored', 15],
] as const satisfies readonly (readonly [keyof UsageRow, string, number])[]

const timeWidth = 16
const organizationWidth = 24
const timeLengths: Readonly<Record<Granularity, number>> = { hour: 16, day: 10, month: 7 }

function tableHeader(isByOrganization: boolean): string {
  const first = isByOrganization ? ['organization'.padEnd(organizationWidth)] : []
  const numbers = columns.map(([, title, width]) => title.padStart(width))
  return [...first, 'time (UTC)'.padEnd(timeWidth), ...numbers].join(' ')
}

function tableRow(item: UsageRow, isByOrganization: boolean, granularity: Granularity): string {
  const first = isByOrganization ? [(item.organizationId ?? '').padEnd(organizationWidth)] : []
  const time = new Date(item.start).toISOString().replace('T', ' ').slice(0, timeLengths[granularity])
  const numbers = columns.map(([name, , width]) => numberText(item[name]).padStart(width))
  return escapeControls([...first, time.padEnd(timeWidth), ...numbers].join(' '))
}

const numberText = (value: number | undefined): string =>
  value === undefined ? '-' : String(Math.round(value * 10) / 10)
