import type { Scenario } from '../scenario.ts'
import { connecting } from './connect.ts'
import { connectingToNewRooms } from './connect-new.ts'
import { cursors } from './cursors.ts'
import { endings } from './endings.ts'
import { pacedRoom, saturated } from './fanout.ts'
import { manyRooms } from './rooms.ts'
import { slowReader } from './slow-reader.ts'
import { recordedSession } from './trace.ts'

/** All scenarios, in the order of the table in the README. */
export const scenarios: readonly Scenario[] = [
  saturated('one room, 4 writers, 50 readers, saturated', 4, 50),
  pacedRoom('one room, 4 writers, 50 readers, 9,600/s', 4, 50, 9_600),
  saturated('one writer, one reader, saturated', 1, 1),
  manyRooms,
  recordedSession,
  cursors('50 cursors × 10/s in one room', 50, 10),
  connecting,
  ...connectingToNewRooms,
  slowReader,
  endings,
]
