import { type RawData, WebSocket } from 'ws'
import { closeCodes } from '../../model/close.ts'
import type { SocketListener } from './client-socket.ts'

/** What `ws` closes with when a message is too big (RFC 6455 7.4.1). Clients take it for transient and come back. */
const messageTooBigCode = 1009

/** A websocket with one listener. Says "too big" with our permanent code: the same message would be too big every time. */
export class SyncSocket extends WebSocket {
  #listener: SocketListener | null = null

  /** Once. What `ws` calls is the same for all sockets: functions of its own would be kept as long as each. */
  listen(listener: SocketListener): void {
    this.#listener = listener
    this.on('message', onMessage).on('ping', onPing).on('pong', onPong)
  }

  static listenerOf(socket: WebSocket): SocketListener | null {
    return socket instanceof SyncSocket ? socket.#listener : null
  }

  override close(code?: number, data?: string | Buffer): void {
    if (code === messageTooBigCode)
      super.close(closeCodes.tooLarge, 'the message is larger than this server takes')
    else super.close(code, data)
  }
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  SyncSocket.listenerOf(this)?.message(data as Buffer, isBinary)
}

function onPing(this: WebSocket, data: Buffer): void {
  SyncSocket.listenerOf(this)?.ping(data.length)
}

function onPong(this: WebSocket, data: Buffer): void {
  SyncSocket.listenerOf(this)?.pong(data.length)
}
