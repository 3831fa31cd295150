# Size factors, dispersions and values that DESeq2 and limma-voom find in counts; writes tables into FOLDER.
# Rscript counts.R COUNTS SAMPLES FOLDER      (started by counts.py)

given <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages({library(DESeq2); library(limma)})
counts <- as.matrix(read.csv(given[1], row.names = 1))
counts <- counts[rowSums(counts) > 0, ]
samples <- read.csv(given[2])
samples$strain <- factor(samples$strain)
samples$minute <- factor(samples$minute)
out <- function(table, name) write.csv(table, file.path(given[3], name), quote = FALSE)

seconds <- system.time({
  data <- DESeqDataSetFromMatrix(counts, samples, ~ strain * minute)
  data <- estimateSizeFactors(data)
  data <- estimateDispersions(data, quiet = TRUE)
})["elapsed"]
found <- mcols(data)
out(data.frame(factor = sizeFactors(data)), "factors.csv")
out(data.frame(raw = found$dispGeneEst, trend = found$dispFit, own = found$dispMAP, row.names = rownames(counts)), "dispersions.csv")

design <- model.matrix(~ strain * minute, samples)
voomed <- voom(counts, design, lib.size = sizeFactors(data) * 1e6)
out(voomed$E, "values.csv")
weights <- voomed$weights
dimnames(weights) <- dimnames(voomed$E)
out(weights, "weights.csv")
versions <- sapply(c("DESeq2", "limma"), function(name) as.character(packageVersion(name)))
cat(paste(names(versions), versions, collapse = ", "), "\n", seconds, "\n", sep = "")
