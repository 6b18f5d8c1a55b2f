export interface Growth {
  readonly slope: number;
  readonly error: number;
}

export declare function growthPerHour(
  points: readonly { readonly at: number; readonly value: number }[],
): Growth;
export declare function compareGrowth(growth: Growth, limit: number): 'grows' | 'steady' | 'not shown';
