export interface Wide {
  name: string;
  description: string;
  more: number[];
}
