import { expect, it } from 'vitest'
import { LiveMessageHub } from '../../../../src/core/rooms/room/live-messages.ts'
import { yWebsocket } from '../../../../src/core/sync/protocols/y-websocket.ts'

const address = { workspaceId: 'w', apiKey: 'k', organizationId: 'o', documentId: 'd', editorId: 'e' }

it('[LIVE-9] keeps nothing of a document that has no listeners', () => {
  const board = new LiveMessageHub()
  const listener = () => ({ encoder: yWebsocket, deliverLive: () => 'sent' as const })
  const leaves = [board.enter(address, listener()), board.enter({ ...address, editorId: 'f' }, listener())]
  expect(board.broadcast(address, null, '{}')).toEqual({ delivered: 2, missed: 0 })
  leaves[0]?.()
  expect([board.count, board.broadcast(address, null, '{}').delivered]).toEqual([1, 1])
  leaves[1]?.()
  expect([board.count, board.broadcast(address, null, '{}').delivered]).toEqual([0, 0])
  const again = board.enter(address, listener())
  // A second call changes nothing.
  leaves[0]?.()
  expect(board.count).toBe(1)
  again()
})

it('[LIVE-4] treats ids as opaque, and keeps API keys separate', () => {
  const board = new LiveMessageHub()
  const listener = { encoder: yWebsocket, deliverLive: () => 'sent' as const }
  board.enter({ ...address, documentId: '__proto__', editorId: 'constructor' }, listener)
  const document = { ...address, documentId: '__proto__' }
  expect(board.broadcast(document, 'constructor', '{}').delivered).toBe(1)
  expect(board.broadcast(document, 'e', '{}').delivered).toBe(0)
  expect(board.broadcast({ ...document, apiKey: 'other' }, null, '{}').delivered).toBe(0)
})
