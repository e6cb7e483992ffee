import type { Scenario } from '../scenario.ts'
import { connecting, connectingToNewRooms, reconnectStorm } from './connect.ts'
import { cursors } from './cursors.ts'
import { endings, lastClientLeaves } from './endings.ts'
import { pacedRoom, saturated } from './fanout.ts'
import { agentsFlush } from './flush.ts'
import { growingDocument } from './growth.ts'
import { idleConnections } from './idle.ts'
import { largeJoin } from './large-join.ts'
import { manyRooms, oneHop } from './rooms.ts'
import { sessions } from './sessions.ts'
import { slowReader } from './slow-reader.ts'

const observers = { writers: 1, readers: 500, perSecond: 20 } as const

/** All scenarios, in the order of the table in `bench/README.md`. */
export const scenarios: readonly Scenario[] = [
  saturated('saturated', 'one room, 4 writers, 50 readers, saturated', 4, 50),
  pacedRoom(
    'paced',
    'one room, 4 writers, 50 readers, 9,600/s',
    'The same room with a rate that every server reaches: CPU time and latency can be compared.',
    { writers: 4, readers: 50, perSecond: 180, showsCursors: false },
  ),
  saturated('saturated-pair', 'one writer, one reader, saturated', 1, 1),
  oneHop,
  ...manyRooms,
  pacedRoom('observers', '500 observers of one writer, 20/s', 'The fan-out of a document that many read.', {
    ...observers,
    showsCursors: false,
  }),
  pacedRoom(
    'observers-presence',
    '500 observers of one writer, 20/s, who all show a cursor',
    'The same with presence: first, each observer must see the cursors of all others.',
    { ...observers, showsCursors: true },
  ),
  ...sessions,
  agentsFlush,
  growingDocument,
  cursors(50, 10),
  idleConnections,
  connecting,
  ...connectingToNewRooms,
  reconnectStorm,
  largeJoin,
  slowReader,
  lastClientLeaves,
  endings,
]
