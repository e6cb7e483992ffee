import { Extension } from '@tiptap/core'
import { Plugin, PluginKey } from '@tiptap/pm/state'
import { Decoration, DecorationSet } from '@tiptap/pm/view'
import { ySyncPluginKey } from '@tiptap/y-tiptap'
import { rangeOf } from './anchors.js'

const key = new PluginKey('comments')

/** Highlights the words of comments. */
export const Highlights = Extension.create({
  name: 'highlights',
  addOptions: () => ({ onClick: () => undefined }),
  addProseMirrorPlugins() {
    const { onClick } = this.options
    return [
      new Plugin({
        key,
        state: {
          init: () => ({ threads: [], marked: DecorationSet.empty }),
          apply(transaction, { threads, marked }, _before, state) {
            const given = transaction.getMeta(key)
            if (given !== undefined) return { threads: given, marked: markedIn(state, given) }
            // After remote changes, Yjs knows all positions. Local edits reach it only afterwards.
            if (ySyncPluginKey.getState(state)?.isChangeOrigin)
              return { threads, marked: markedIn(state, threads) }
            return { threads, marked: marked.map(transaction.mapping, transaction.doc) }
          },
        },
        props: {
          decorations: (state) => key.getState(state).marked,
          handleClick(view, position) {
            const [found] = key.getState(view.state).marked.find(position, position)
            if (found !== undefined) onClick(found.spec.id)
          },
        },
      }),
    ]
  },
})

function markedIn(state, threads) {
  const decorations = threads.flatMap(({ annotationId: id, anchor }) => {
    const range = rangeOf(state, anchor)
    return range === null
      ? []
      : [Decoration.inline(range.from, range.to, { class: 'commented', 'data-thread': id }, { id })]
  })
  return DecorationSet.create(state.doc, decorations)
}

export function setThreads({ view }, threads) {
  view.dispatch(view.state.tr.setMeta(key, threads))
}

/** Returns the present words of each thread by its id. */
export function wordsOfThreads({ state }) {
  const found = key.getState(state).marked.find()
  return new Map(found.map(({ from, to, spec }) => [spec.id, state.doc.textBetween(from, to, ' ')]))
}

/** Returns the range `{ from, to }` of a thread, or undefined if its words were deleted. */
export const placeOf = ({ state }, id) =>
  key.getState(state).marked.find(undefined, undefined, (spec) => spec.id === id)[0]
