import { expect, it } from 'vitest'
import type { ConnectionsGetDataItem } from '../../../src/client/api/operation-types.ts'
import { busyEditors, onlineUsers } from '../../../src/console/overview/live-groups.ts'

const connection = (
  userId: string,
  documentId: string,
  connectedAt: number,
  name = '',
): ConnectionsGetDataItem => ({
  connectionId: `${userId}-${documentId}-${connectedAt}`,
  organizationId: 'acme',
  documentId,
  editorId: 'main',
  userId,
  name,
  accessRole: 'editor',
  protocol: 'y-websocket',
  transport: 'websocket',
  clientAddress: '203.0.113.7',
  connectedAt,
  node: 'one',
})

const connections = [
  connection('bob', 'budget', 5),
  connection('ada', 'plan', 4, 'Ada'),
  connection('ada', 'notes', 3, 'Ada'),
  connection('bob', 'plan', 2),
  connection('ada', 'plan', 1, 'Ada'),
]

it('[CON-74] lists open editors with the most users first, then the most recent, with the names of their users', () => {
  const editors = busyEditors(connections)
  expect(
    editors.map(({ documentId, users, latestAt }) => [documentId, users.map(({ name }) => name), latestAt]),
  ).toEqual([
    ['plan', ['Ada', 'bob'], 4],
    ['budget', ['bob'], 5],
    ['notes', ['Ada'], 3],
  ])
  expect(busyEditors([])).toEqual([])
})

it('[CON-74] lists each user once, with the documents that the user has open', () => {
  expect(onlineUsers(connections)).toEqual([
    { organizationId: 'acme', userId: 'bob', name: 'bob', documentIds: ['budget', 'plan'], sinceAt: 2 },
    { organizationId: 'acme', userId: 'ada', name: 'Ada', documentIds: ['plan', 'notes'], sinceAt: 1 },
  ])
})
