import { memoized } from '../../base/maps.ts'
import { limits } from '../../model/limits.ts'
import { contentLimit } from '../content-error.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { MarkSet } from './mark-sets.ts'
import { byName, xmlName } from './names.ts'
import { isBlankWithBreak, type ParsedElement, type ParsedNode } from './parse.ts'
import type { XmlScope } from './read-tree.ts'
import { ChildrenBuilder, type LiveElement, type XmlElement, type XmlNode } from './tree.ts'
import { jsonValues, type ValueCodec, xmlValues } from './value-codec.ts'

/** The content that a root must have, in any format of XML and rich text. */
export interface TargetTree {
  /**
   * Returns the tree of the content, in the names and marks of a document. The tree may contain nodes of `root`:
   * these stay as they are.
   * @param replaced an element of `root` that the content replaces. Formatting that a text format cannot state stays.
   */
  readonly treeIn: (scope: XmlScope, root: LiveElement, replaced?: XmlElement) => XmlElement
  /** The form of the values in this tree. */
  readonly values: ValueCodec
}

/**
 * Interprets parsed XML for this document: uses the spelling of names in the document, distinguishes elements
 * from formatting marks, drops white space that is only layout of the source, and joins adjacent texts.
 */
export const targetTree = (parsed: ParsedElement): TargetTree => ({
  treeIn: (scope) => new TargetBuilder(scope).root(parsed),
  values: xmlValues,
})

/**
 * Maximum number of marks in a target. Each mark is counted once for each text that has it. Without this
 * limit, a few elements around many texts would multiply the marks.
 */
const markingsMax = 2 * limits.nodes

class MarkingCount {
  #count = 0

  /** @throws ApiError INVALID_ARGUMENT if there are too many */
  add(marks: number): void {
    this.#count += marks
    if (this.#count > markingsMax)
      throw contentLimit(`data has too much formatting: at most ${markingsMax} marks on all texts together`)
  }
}

class TargetBuilder {
  readonly #scope: XmlScope
  readonly #markings = new MarkingCount()
  readonly #areMarks = new Map<ParsedElement, boolean>()

  constructor(scope: XmlScope) {
    this.#scope = scope
  }

  root(parsed: ParsedElement): XmlElement {
    return this.#scope.numbers.element('', [], this.#content(parsed, 0, false))
  }

  #element(parsed: ParsedElement, set: MarkSet, preserved: boolean): XmlElement {
    const attributes = [...parsed.attributes].sort(byName)
    const children = this.#content(parsed, set, preservesSpace(parsed, preserved))
    return this.#scope.numbers.element(this.#scope.vocabulary.spelling(parsed.name), attributes, children)
  }

  #content(parsed: ParsedElement, set: MarkSet, preserved: boolean): XmlNode[] {
    const builder = new ChildrenBuilder(this.#scope.numbers)
    this.#fill(builder, parsed, set, preserved)
    return builder.take()
  }

  /**
   * Adds the content of an element. Marks are not nodes of the tree: the content of a mark belongs to the
   * element around it.
   */
  #fill(builder: ChildrenBuilder, parsed: ParsedElement, set: MarkSet, preserved: boolean): void {
    const dropsBreaks = !preserved && this.#isLaidOut(parsed)
    for (const child of parsed.children) {
      if (child.kind === 'text') {
        if (!dropsBreaks || !isLayout(child)) this.#addText(builder, child.text, set)
      } else if (this.#isMark(child)) {
        const name = this.#scope.vocabulary.spelling(child.name)
        const inner = this.#scope.marks.with(set, { name, attributes: [...child.attributes] })
        this.#fill(builder, child, inner, preserved)
      } else builder.node(this.#element(child, set, preserved))
    }
  }

  #addText(builder: ChildrenBuilder, text: string, set: MarkSet): void {
    this.#markings.add(this.#scope.marks.sizeOf(set))
    builder.text(text, set)
  }

  /**
   * Returns whether line breaks between the child elements are layout. This is the case if the element has no
   * other text and no marks.
   */
  #isLaidOut({ name, children }: ParsedElement): boolean {
    let elements = name === '' ? 1 : 0
    for (const child of children) {
      if (child.kind === 'text' ? !isLayout(child) : this.#isMark(child)) return false
      if (child.kind === 'element') elements += 1
    }
    return elements > 0
  }

  #isMark = (parsed: ParsedElement): boolean => memoized(this.#areMarks, parsed, () => this.#decide(parsed))

  #decide(parsed: ParsedElement): boolean {
    const name = this.#scope.vocabulary.spelling(parsed.name)
    const use = this.#scope.vocabulary.useOf(name)
    if (use === 'mark' || use === 'element') return use === 'mark'
    if (use === 'new') return this.#scope.vocabulary.isInlineMark(name) && this.#isInline(parsed)
    // An element without content is not a mark, because such a mark would leave nothing in the document.
    return !parsed.surelyElement && parsed.children.length > 0 && this.#isInline(parsed)
  }

  #isInline({ children }: ParsedElement): boolean {
    return children.every((child) => child.kind === 'text' || this.#isMark(child))
  }
}

const isLayout = (node: ParsedNode): boolean =>
  node.kind === 'text' && !node.meant && isBlankWithBreak(node.text)

function preservesSpace({ attributes }: ParsedElement, inherited: boolean): boolean {
  const space = attributes.get('xml:space')
  return space === undefined ? inherited : space === 'preserve'
}

/**
 * An element of a target whose attributes have types. Names are in the stored form. The name and the
 * attributes of the root are not used.
 */
export interface TypedElement {
  readonly kind: 'element'
  readonly name: string
  readonly attributes: ReadonlyMap<string, Json>
  readonly children: readonly TypedNode[]
}

interface TypedText {
  readonly kind: 'text'
  /** Well-formed Unicode. */
  readonly text: string
  readonly marks: readonly TypedMark[]
}

export interface TypedMark {
  readonly name: string
  readonly attributes: JsonObject
}

export type TypedNode = TypedElement | TypedText

/** Converts a target to the tree that is compared with the document. Adjacent texts are joined. An attribute that is null counts as absent. */
export const typedTree = (target: TypedElement): TargetTree => ({
  treeIn: (scope) => new TypedTreeBuilder(scope).root(target),
  values: jsonValues,
})

class TypedTreeBuilder {
  readonly #scope: XmlScope
  readonly #sets = new Map<readonly TypedMark[], MarkSet>()
  readonly #markings = new MarkingCount()

  constructor(scope: XmlScope) {
    this.#scope = scope
  }

  root({ children }: TypedElement): XmlElement {
    return this.#scope.numbers.element('', [], this.#children(children))
  }

  #element({ name, attributes: values, children }: TypedElement): XmlElement {
    const attributes: [string, string][] = []
    for (const [attribute, value] of values) {
      const text = jsonValues.toText(value)
      if (text !== null) attributes.push([xmlName(attribute), text])
    }
    return this.#scope.numbers.element(xmlName(name), attributes.sort(byName), this.#children(children))
  }

  #children(targets: readonly TypedNode[]): XmlNode[] {
    const builder = new ChildrenBuilder(this.#scope.numbers)
    for (const target of targets)
      if (target.kind === 'text') builder.text(target.text, this.#setOf(target.marks))
      else builder.node(this.#element(target))
    return builder.take()
  }

  #setOf(marks: readonly TypedMark[]): MarkSet {
    this.#markings.add(marks.length)
    return memoized(this.#sets, marks, () =>
      marks.reduce((set, { name, attributes }) => this.#scope.marks.withValues(set, name, attributes), 0),
    )
  }
}
