import { type ApiError, invalid } from '../../../base/errors.ts'
import { shortened } from '../../../base/text.ts'
import { limits } from '../../../model/limits.ts'
import { commonStart } from '../../diff/common-ends.ts'
import type { Json } from '../../json/json.ts'
import { parseIndex, shownPointer } from '../../json/pointer.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { JsonPatchOperation } from '../edit.ts'
import { patchFailed } from '../edit-errors.ts'
import {
  type Container,
  childOf,
  isContainer,
  isPlainView,
  ListView,
  ObjectView,
  type Value,
  viewOf,
  viewRoot,
} from './overlay.ts'
import { nestingOf, PlainReader } from './plain-copy.ts'

type Path = readonly string[]

/** The parent of a value, and the reference token of the value in it. */
interface Place {
  readonly parent: Container
  readonly token: string
}

/** Carries out the operations of one patch on an overlay. The document does not change. */
export class PatchRun {
  /** The root with all changes: a view of the stored root, or the plain content that replaces it. */
  root: Container
  readonly #kind: 'map' | 'array'
  readonly #reader = new PlainReader()
  /** The verb and the path of the present operation, for messages. */
  #action = ''

  constructor(root: SharedRoot, kind: 'map' | 'array') {
    this.root = viewRoot(root, kind)
    this.#kind = kind
  }

  /**
   * Carries out one operation.
   * @throws ApiError FAILED_PRECONDITION if the operation fails; INVALID_ARGUMENT if a limit is exceeded.
   * After an error, the overlay must not be used.
   */
  run(operation: JsonPatchOperation): void {
    const { op, path } = operation
    this.#action = `${op} ${shownPointer(path)}`
    switch (op) {
      case 'test':
        return this.#test(path, operation.value)
      case 'add':
        return this.#add(path, operation.value)
      case 'remove':
        return this.#remove(path)
      case 'replace':
        return this.#replace(path, operation.value)
      case 'copy':
        return this.#add(path, this.#copy(operation.from))
      default:
        return this.#move(operation.from, path)
    }
  }

  #test(path: Path, expected: Json): void {
    const found = this.#find(path)
    if (this.#reader.equals(found, expected)) return
    const [present, wanted] = [this.#reader.describe(found), this.#reader.describe(viewOf(expected))]
    // Two containers of the same size have the same description, and so have long strings with the same start.
    const difference = present === wanted ? `${present}, but with other content` : `${present}, not ${wanted}`
    throw patchFailed(
      `test failed: the value at ${shownPointer(path)} is ${difference}; read the document again`,
    )
  }

  #add(path: Path, value: unknown): void {
    if (path.length === 0) return this.#setRoot(value)
    const { parent, token } = this.#writable(path, nestingOf(value))
    if (parent instanceof ObjectView) return parent.set(token, value)
    const index = token === '-' ? parent.length : parseIndex(token)
    if (index === null || index > parent.length) throw this.#noElement(path, parent.length)
    parent.insert(index, value)
  }

  #remove(path: Path): void {
    if (path.length === 0)
      throw this.#failed('the whole root cannot be removed; replace it with an empty value')
    const { parent, token } = this.#writable(path, 0)
    this.#requireChild(parent, path)
    if (parent instanceof ObjectView) parent.delete(token)
    else parent.delete(Number(token))
  }

  #replace(path: Path, value: unknown): void {
    if (path.length === 0) return this.#setRoot(value)
    const { parent, token } = this.#writable(path, nestingOf(value))
    this.#requireChild(parent, path)
    if (parent instanceof ObjectView) parent.set(token, value)
    else parent.set(Number(token), value)
  }

  #move(from: Path, path: Path): void {
    if (from.length === path.length && commonStart(from, path) === path.length) {
      this.#find(from)
      return
    }
    const value = this.#copy(from)
    this.#remove(from)
    this.#add(path, value)
  }

  #copy(from: Path): unknown {
    const found = this.#find(from)
    return this.#reader.copy(found, (problem) =>
      this.#failed(`${problem}; the value is at or below ${shownPointer(from)}`),
    )
  }

  #setRoot(value: unknown): void {
    const view = viewOf(value)
    const fits = this.#kind === 'map' ? view instanceof ObjectView : view instanceof ListView
    if (!fits || !isContainer(view)) {
      const expected = this.#kind === 'map' ? 'an object' : 'an array'
      throw this.#failed(`the root must be ${expected}, not ${this.#reader.describe(view)}`)
    }
    this.root = view
  }

  #find(path: Path): Value {
    let value: Value = this.root
    for (let length = 1; length <= path.length; length++)
      value = this.#requireChild(value, path.slice(0, length))
    return value
  }

  /**
   * Finds the parent of a value to write. Plain containers on the path become changes of the containers around
   * them.
   * @param nesting levels of containers in the new value
   */
  #writable(path: Path, nesting: number): Place {
    let parent: Value = this.root
    let plainLevels = 0
    for (let length = 1; length < path.length; length++) {
      const [token, container]: [string, Value] = [path[length - 1] as string, parent]
      parent = this.#requireChild(container, path.slice(0, length))
      if (!isPlainView(parent)) continue
      plainLevels += 1
      if (container instanceof ObjectView) container.set(token, parent)
      else if (container instanceof ListView) container.set(Number(token), parent)
    }
    if (!isContainer(parent)) throw this.#noMembers(path, parent)
    this.#checkDepth(path.length, plainLevels, nesting)
    return { parent, token: path.at(-1) as string }
  }

  #checkDepth(depth: number, plainLevels: number, nesting: number): void {
    const { jsonDepth, typeDepth } = limits
    if (nesting === 0 || (plainLevels + nesting <= jsonDepth && depth + nesting <= typeDepth)) return
    throw invalid(
      'crdt/content-limit',
      `values must be nested at most ${jsonDepth} levels deep, and at most ${typeDepth} levels below the root`,
    )
  }

  /** Returns the value at a path whose last token names a member of `parent`. */
  #requireChild(parent: Value, path: Path): Value {
    const token = path.at(-1) as string
    const child = childOf(parent, token)
    if (child !== undefined) return child
    if (parent instanceof ListView) throw this.#noElement(path, parent.length)
    if (!(parent instanceof ObjectView)) throw this.#noMembers(path, parent)
    throw this.#failed(
      `${placeOf('object', path)} has no member ${JSON.stringify(shortened(token, 200))}; read the document again`,
    )
  }

  #noElement(path: Path, length: number): ApiError {
    const elements = `${length} element${length === 1 ? '' : 's'}`
    return this.#failed(
      `${placeOf('array', path)} has ${elements}, but not ${shownPointer(path)}; read the document again`,
    )
  }

  #noMembers(path: Path, parent: Value): ApiError {
    return this.#failed(
      `${placeOf('value', path)} is ${this.#reader.describe(parent)}, and has no members; read the document again`,
    )
  }

  #failed(problem: string): ApiError {
    return patchFailed(`cannot ${this.#action}: ${problem}`)
  }
}

const placeOf = (noun: string, path: Path): string => `the ${noun} at ${shownPointer(path.slice(0, -1))}`
