<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header
   problemName="goods.lp"
   objectiveValue="15"
   solutionTypeValue="1"
   solutionTypeString="basic"
   solutionStatusValue="1"
   solutionStatusString="optimal"
   solutionMethodString="dual"
   primalFeasible="1"
   dualFeasible="1"
   simplexIterations="1"
   writeLevel="1"/>
 <quality
   epRHS="9.9999999999999995e-07"
   epOpt="9.9999999999999995e-07"
   maxPrimalInfeas="0"
   maxDualInfeas="0"
   maxPrimalResidual="0"
   maxDualResidual="0"
   maxX="5"
   maxPi="2"
   maxSlack="4"
   maxRedCost="1"
   kappa="2.6666666666666665"/>
 <linearConstraints>
  <constraint name="BUDGET" index="0" status="LL" slack="0" dual="2"/>
  <constraint name="NEED" index="1" status="BS" slack="-4" dual="-0"/>
  <constraint name="TIE" index="2" status="LL" slack="0" dual="1"/>
  <constraint name="A_VERY_LONG_NAME_OF_A_ROW" index="3" status="BS" slack="3" dual="0"/>
 </linearConstraints>
 <variables>
  <variable name="X" index="0" status="BS" value="1" reducedCost="0"/>
  <variable name="Y" index="1" status="UL" value="5" reducedCost="0.5"/>
  <variable name="Z" index="2" status="BS" value="0.5" reducedCost="0"/>
  <variable name="W" index="3" status="LL" value="0" reducedCost="-1"/>
 </variables>
</CPLEXSolution>
