const colors = ['#e5484d', '#d97706', '#65a30d', '#0d9488', '#0284c7', '#7c3aed', '#db2777']

/** The present users, and the card that each of them has selected, drags, or points at. */
export class People {
  constructor(awareness, name) {
    this.awareness = awareness
    this.color = colors[awareness.clientID % colors.length]
    awareness.setLocalStateField('user', { name, color: this.color })
  }

  /** Returns the actions of other users by card: `{ name, color, how }`. */
  atCards() {
    const found = new Map()
    const note = (id, who) => id && found.set(id, [...(found.get(id) ?? []), who])
    for (const [client, { user, dragged, selected, pointed }] of this.awareness.getStates()) {
      if (client === this.awareness.clientID || !user) continue
      const who = (how) => ({ name: user.name, color: user.color, how })
      if (dragged) note(dragged, who('dragged'))
      else if (selected) note(selected, who('selected'))
      if (pointed && pointed !== selected && !dragged) note(pointed, who('pointed'))
    }
    return found
  }

  /**
   * @param how `selected`, `dragged` or `pointed`
   * @param id card id, or null
   */
  tell(how, id) {
    if ((this.awareness.getLocalState()?.[how] ?? null) !== id) this.awareness.setLocalStateField(how, id)
  }

  /** Publishes actions in `root` to the other users, and shows the users in `list`. */
  watch(root, list, onChange) {
    const cardOf = (target) => target?.closest?.('.card')?.dataset.id ?? null
    root.addEventListener('focusin', ({ target }) => this.tell('selected', cardOf(target)))
    root.addEventListener('focusout', ({ relatedTarget }) => this.tell('selected', cardOf(relatedTarget)))
    root.addEventListener('pointerover', ({ target }) => this.tell('pointed', cardOf(target)))
    root.addEventListener('pointerleave', () => this.tell('pointed', null))
    this.awareness.on('change', () => {
      list.replaceChildren(...[...this.awareness.getStates().values()].map(chipOf))
      onChange()
    })
  }
}

function chipOf({ user }) {
  const chip = document.createElement('li')
  chip.textContent = user?.name ?? '?'
  chip.style.setProperty('--who', user?.color ?? '#888')
  return chip
}
