import { WebSocket } from 'ws'
import { writeAwareness } from '../../../src/core/update/awareness.ts'
import { message } from './clients.ts'

/**
 * Connects to the URL in its argument, publishes a cursor with the client id 77, and stays connected. Prints
 * a line when it is connected.
 */
const socket = new WebSocket(process.argv[2] ?? '', { perMessageDeflate: false })
socket.on('open', () => {
  const shown = { clientId: 77, clock: 1, text: '{"cursor":1}' }
  socket.send(message([1], writeAwareness([shown])))
  process.stdout.write('connected\n')
})
