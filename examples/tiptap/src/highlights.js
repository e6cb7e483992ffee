import { Extension } from '@tiptap/core'
import { Plugin, PluginKey } from '@tiptap/pm/state'
import { Decoration, DecorationSet } from '@tiptap/pm/view'
import { ySyncPluginKey } from '@tiptap/y-tiptap'
import { rangeOf } from './anchors.js'

const key = new PluginKey('comments')

/** Marks the words that comments are about. */
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
            // Of what others have changed Yjs knows where everything went. What is typed here it is told only afterwards.
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

/** The words that each thread is about at the moment, by its id. */
export function wordsOfThreads({ state }) {
  const found = key.getState(state).marked.find()
  return new Map(found.map(({ from, to, spec }) => [spec.id, state.doc.textBetween(from, to, ' ')]))
}

/** Where a thread is in the text: `{ from, to }`, or undefined where its words have gone. */
export const placeOf = ({ state }, id) =>
  key.getState(state).marked.find(undefined, undefined, (spec) => spec.id === id)[0]
