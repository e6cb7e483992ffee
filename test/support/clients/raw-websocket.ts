import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/**
 * Writes bytes to a port. Reads until the other side closes the connection or the body has its announced
 * length. Tests use this function for requests that no HTTP client would send.
 */
export const sendRaw = (port: number, ...parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> =>
  exchange(port, parts, 'stays')

/**
 * Writes bytes in the same way as `sendRaw`, and then half-closes the connection. A server that waits for
 * more bytes must then give up.
 */
export const sendAndEnd = (port: number, bytes: Uint8Array): Promise<RawAnswer> =>
  exchange(port, [bytes], 'ends')

function exchange(
  port: number,
  parts: readonly (string | Uint8Array)[],
  afterwards: 'stays' | 'ends',
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const finish = () => {
      socket.destroy()
      resolve(parseAnswer(text))
    }
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (isComplete(text)) finish()
    })
    socket.on('close', finish)
    socket.on('error', (error) => (text === '' ? reject(error) : finish()))
    for (const part of parts) socket.write(part)
    if (afterwards === 'ends') socket.end()
  })
}

const lengthOf = (head: string): number => Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  return (
    end !== -1 && !text.startsWith('HTTP/1.1 100') && Buffer.byteLength(text.slice(end + 4)) >= lengthOf(text)
  )
}

function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body: rest.join('\r\n\r\n') }
}
