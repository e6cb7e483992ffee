/** Who does what the console does, as others see it. */
export const consoleUser = { id: 'console', name: 'Console' } as const
