export interface TestGate {
  readonly opened: Promise<void>
  readonly open: () => void
}

/** Closed at first: who awaits `opened` waits for `open`. */
export function gate(): TestGate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
