import { type FromSchema, json } from '../../../core/base/schema.ts'
import { pageRequest } from '../../../rest/paging/page-request.ts'
import { granularities } from '../usage-reader.ts'

/** The end of the year 9999, in epoch milliseconds. */
const timeMax = 253_402_300_799_999

const time = { type: 'integer', minimum: 0, maximum: timeMax } as const
const count = { type: 'integer', minimum: 0 } as const

/** Selects usage. */
export const usageRequest = json.object(
  {},
  {
    from: { ...time, default: 0, description: 'Start of the time, in epoch milliseconds.' },
    to: { ...time, description: 'End of the time (excluded), in epoch milliseconds. Default: now.' },
    granularity: json.choice(
      granularities,
      'Length of the time that an item covers. An item always covers it completely.',
      { default: 'hour' },
    ),
    by: json.choice(
      ['workspace', 'organization'],
      'The subject of an item. With `organization`, items are sorted by `organizationId` first.',
      { default: 'workspace', examples: ['organization'] },
    ),
    organizationId: json.id('Only organizations with this id, of any API key. Implies `by: organization`.'),
    ...pageRequest,
  },
)

export const usageItem = json.object(
  {
    start: json.integer('Start of the hour, day or month (UTC), in epoch milliseconds.'),
    connectionsOpened: { ...count, description: 'Realtime connections to an editor that were opened.' },
    connectionsPeak: {
      ...count,
      description: 'Maximum number of connections that were open at the same time.',
    },
    connectionMinutes: json.number('Sum of the minutes for which the connections were open.', { minimum: 0 }),
    updates: { ...count, description: 'Accepted updates of clients, and changes by REST.' },
    bytesSent: { ...count, description: 'Bytes sent on realtime connections and in responses to calls.' },
    calls: { ...count, description: 'Calls that the rate limit accepted.' },
  },
  {
    apiKey: json.text('API key of the organization; absent for the workspace.'),
    organizationId: json.text('The organization; absent for the workspace.'),
    bytesStored: {
      ...count,
      description:
        'Last measurement of the bytes that the workspace stores (an estimate). Absent for an organization, and ' +
        'without a measurement.',
    },
  },
)

/** The usage of one hour, day or month. */
export type UsageRow = FromSchema<typeof usageItem>
