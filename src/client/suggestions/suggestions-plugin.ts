import { type Command, type EditorState, Plugin, PluginKey } from 'prosemirror-state'
import { Decoration, DecorationSet } from 'prosemirror-view'
import { decodeAnchor } from '../react/anchor.ts'
import type { SuggestedChange } from '../rest/endpoint-suggestions.ts'
import { ContentPlaces, syncStateOf } from './content-places.ts'
import type { SuggestionStore } from './suggestion-store.ts'

/** State of the plugin. */
interface ShownSuggestions {
  readonly suggestions: SuggestionStore
  readonly decorations: DecorationSet
}

/** A suggestion and its place in the editor. */
interface PlacedSuggestion {
  readonly suggestion: SuggestedChange
  readonly from: number
  readonly to: number
}

const key = new PluginKey<ShownSuggestions>('weftSuggestions')

/**
 * Returns a plugin of ProseMirror that shows suggestions in the text. It needs the plugin of y-prosemirror, or of
 * y-tiptap, in the same editor.
 *
 * In the main editor, it marks the text that a suggestion deletes, and shows the inserted text behind it. In a branch,
 * it marks the text that the branch inserts, and shows the deleted text. Two buttons accept and reject a suggestion.
 * @param editorId id of the editor that is shown; in a branch, only its own suggestions are shown
 */
export const suggestionsPlugin = (suggestions: SuggestionStore, editorId = suggestions.editorId): Plugin =>
  new Plugin<ShownSuggestions>({
    key,
    state: {
      init: () => ({ suggestions, decorations: DecorationSet.empty }),
      apply(transaction, shown) {
        const decorations = transaction.getMeta(key) as DecorationSet | undefined
        if (decorations !== undefined) return { suggestions, decorations }
        if (!transaction.docChanged) return shown
        return { suggestions, decorations: shown.decorations.map(transaction.mapping, transaction.doc) }
      },
    },
    props: { decorations: (state) => key.getState(state)?.decorations },
    view(view) {
      const show = (): void => {
        if (view.isDestroyed) return
        const decorations = decorationsOf(view.state, suggestions, editorId)
        view.dispatch(view.state.tr.setMeta(key, decorations).setMeta('addToHistory', false))
      }
      const unsubscribe = suggestions.subscribe(show)
      queueMicrotask(show)
      return {
        update({ state }, before) {
          // The binding replaces whole blocks. An own change reaches Yjs later, and moves the decorations with the text.
          const isRemote = state.doc !== before.doc && syncStateOf(state)?.isChangeOrigin === true
          if (isRemote && suggestions.get().suggestions.length > 0) queueMicrotask(show)
        },
        destroy: unsubscribe,
      }
    },
  })

/** Returns the configuration of an extension with the plugin, for `Extension.create` of Tiptap. */
export const tiptapSuggestions = (
  suggestions: SuggestionStore,
  editorId?: string,
): { name: string; addProseMirrorPlugins(): Plugin[] } => ({
  name: 'weftSuggestions',
  addProseMirrorPlugins: () => [suggestionsPlugin(suggestions, editorId)],
})

/** Returns an extension with the plugin, for `extensions` of `BlockNoteEditor.create`. */
export const blockNoteSuggestions = (
  suggestions: SuggestionStore,
  editorId?: string,
): { key: string; prosemirrorPlugins: Plugin[] } => ({
  key: 'weftSuggestions',
  prosemirrorPlugins: [suggestionsPlugin(suggestions, editorId)],
})

/** Returns the suggestions of the editor with their places, in the order of the list. */
function placed(state: EditorState, all: readonly SuggestedChange[]): readonly PlacedSuggestion[] {
  const sync = syncStateOf(state)
  if (sync === null || all.length === 0) return []
  const places = new ContentPlaces(sync)
  return all.flatMap((suggestion) => {
    const { start, end } = decodeAnchor(suggestion.anchor)
    const [from, to] = [places.at(start), end === null ? null : places.at(end)]
    const isThere = from !== null && to !== null && from <= to && to <= state.doc.content.size
    return isThere ? [{ suggestion, from, to }] : []
  })
}

function decorationsOf(state: EditorState, suggestions: SuggestionStore, editorId: string): DecorationSet {
  const isBranch = editorId !== suggestions.editorId
  const shown = suggestions
    .get()
    .suggestions.filter(({ branchEditorId }) => !isBranch || branchEditorId === editorId)
  const decorations = placed(state, shown).flatMap(({ suggestion, from, to }) => {
    const { hunkId, userId, deleted, inserted, deletedNodes, insertedNodes } = suggestion
    const { name, color } = suggestions.author(userId)
    const isFormat = deleted + inserted === '' && deletedNodes.length + insertedNodes.length === 0
    const attributes = {
      class: `weft-suggestion weft-${isFormat ? 'formatting' : isBranch ? 'insertion' : 'deletion'}`,
      style: `--weft-suggestion: ${color}`,
      title: name,
      'data-suggestion': hunkId,
    }
    const marks = from === to ? [] : [Decoration.inline(from, to, attributes, { hunkId })]
    state.doc.nodesBetween(from, to, (node, position) => {
      const end = position + node.nodeSize
      if (node.isBlock && node.isAtom && position >= from && end <= to)
        marks.push(Decoration.node(position, end, attributes, { hunkId }))
    })
    const widget = widgetOf(suggestions, suggestion, isBranch, attributes)
    const options = { key: widget.outerHTML, side: 1, ignoreSelection: true, stopEvent: () => true }
    return [...marks, Decoration.widget(to, widget, { ...options, hunkId })]
  })
  return DecorationSet.create(state.doc, decorations)
}

/** Returns the text that the editor does not have, with the buttons. */
function widgetOf(
  suggestions: SuggestionStore,
  suggestion: SuggestedChange,
  isBranch: boolean,
  { style, title, ...attributes }: Readonly<Record<'style' | 'title' | 'data-suggestion', string>>,
): HTMLElement {
  const { hunkId, deleted, inserted, deletedNodes, insertedNodes } = suggestion
  const [text, nodes] = isBranch ? [deleted, deletedNodes] : [inserted, insertedNodes]
  const textContent = text || nodes.map((node) => `<${node}>`).join('')
  const widget = Object.assign(document.createElement('span'), { title, contentEditable: 'false' })
  widget.className = 'weft-suggestion weft-suggestion-widget'
  widget.dataset.suggestion = attributes['data-suggestion']
  // A content security policy can forbid the attribute.
  widget.style.cssText = style
  if (textContent !== '')
    widget.append(Object.assign(document.createElement(isBranch ? 'del' : 'ins'), { textContent }))
  for (const [is, title, sign] of [
    ['accept', 'Accept', '✓'],
    ['reject', 'Reject', '✗'],
  ] as const) {
    if (!suggestions.may(is, suggestion)) continue
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      title,
      textContent: sign,
    })
    button.setAttribute('aria-label', title)
    // The state has the error.
    button.addEventListener('click', () => void suggestions[is](hunkId).catch(() => {}))
    widget.append(button)
  }
  return widget
}

/** Returns a command of ProseMirror that accepts a suggestion. Default: the one at the selection. */
export const acceptSuggestion = (hunkId?: string): Command => decisionOf('accept', hunkId)

/** Returns a command of ProseMirror that rejects a suggestion. Default: the one at the selection. */
export const rejectSuggestion = (hunkId?: string): Command => decisionOf('reject', hunkId)

const decisionOf =
  (is: 'accept' | 'reject', hunkId: string | undefined): Command =>
  (state, dispatch) => {
    const { suggestions, decorations } = key.getState(state) ?? {}
    const { from, to } = state.selection
    const [found] = decorations?.find(from, to, (spec) => spec.hunkId !== undefined) ?? []
    const id = hunkId ?? (found?.spec.hunkId as string | undefined)
    const suggestion = suggestions?.get().suggestions.find((each) => each.hunkId === id)
    if (suggestions === undefined || suggestion === undefined || !suggestions.may(is, suggestion))
      return false
    // A decision changes the state of the editor, which a command must not do before its own transaction.
    if (dispatch !== undefined) queueMicrotask(() => void suggestions[is](suggestion.hunkId).catch(() => {}))
    return true
  }
