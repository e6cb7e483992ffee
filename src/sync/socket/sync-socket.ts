import { type RawData, WebSocket } from 'ws'
import { closeCodes } from '../../model/close.ts'
import type { SocketListener } from './client-socket.ts'

/**
 * Close code of `ws` for a message that is too large (RFC 6455 7.4.1). Clients regard it as transient and
 * reconnect.
 */
const messageTooBigCode = 1009

/**
 * A websocket with one listener. It closes with a permanent code for a message that is too large, because a
 * repeated message would also be too large.
 */
export class SyncSocket extends WebSocket {
  #listener: SocketListener | null = null

  /**
   * Sets the listener. Call it once. `ws` gets the same functions for all sockets: separate ones would take memory
   * for each socket.
   */
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
