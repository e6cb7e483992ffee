import { WebSocket } from 'ws'
import { closeCodes } from '../model/close.ts'

/** What `ws` closes with when a message is too big (RFC 6455 7.4.1). Clients take it for transient and come back. */
const messageTooBig = 1009

/** Says "too big" with our permanent code: the same message would be too big every time. */
export class SyncSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    if (code === messageTooBig) super.close(closeCodes.tooBig, 'the message is larger than this server takes')
    else super.close(code, data)
  }
}
