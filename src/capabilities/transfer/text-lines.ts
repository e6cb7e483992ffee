import { constants } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { errorMessage } from '../../core/base/errors.ts'
import { StorageError } from '../backups/storage/storage-error.ts'

const newline = 0x0a

/** A line without its line feed. The number of the first line is 1. */
export interface TextLine {
  readonly number: number
  readonly text: string
}

/**
 * Yields the lines of a UTF-8 file. Only a line feed ends a line. The line reader of Node, from version 24,
 * also splits at U+2028 and U+2029, which JSON strings may contain.
 * @param bytesMax maximum size of a line in bytes
 * @throws StorageError that contains the file and the line number
 */
export async function* readLines(
  path: string,
  bytesMax: number = constants.MAX_STRING_LENGTH,
): AsyncGenerator<TextLine> {
  let waiting: Buffer[] = []
  let bytes = 0
  let number = 1
  const take = (part: Buffer): void => {
    bytes += part.length
    if (bytes > bytesMax)
      throw new StorageError(`${path}, line ${number}: it has more than ${bytesMax} bytes`)
    waiting.push(part)
  }
  const end = (): TextLine => {
    const line = { number, text: Buffer.concat(waiting, bytes).toString() }
    ;[waiting, bytes, number] = [[], 0, number + 1]
    return line
  }
  for await (const chunk of readableChunks(path)) {
    let start = 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, at))
      yield end()
      start = at + 1
    }
    if (start < chunk.length) take(chunk.subarray(start))
  }
  if (bytes > 0) yield end()
}

/** Returns the text of a file. @throws Error also as for `rejectPipe` */
export async function readTextFile(path: string): Promise<string> {
  await rejectPipe(path)
  return readFile(path, 'utf8')
}

/** Rejects pipes, devices and sockets, because a read of them may never end. @throws Error */
export async function rejectPipe(path: string): Promise<void> {
  const found = await stat(path)
  if (!found.isFile() && !found.isDirectory()) throw new Error('it is not a file')
}

async function* readableChunks(path: string): AsyncGenerator<Buffer> {
  try {
    await rejectPipe(path)
    // The chunks of a stream without an encoding are buffers.
    yield* createReadStream(path) as AsyncIterable<Buffer>
  } catch (error) {
    throw new StorageError(`${path} cannot be read: ${errorMessage(error)}`)
  }
}
